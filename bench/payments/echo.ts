import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../environment.ts';

/** A Fastify route that validates the same body and stores nothing. */
export async function startEcho(): Promise<{ url: string; pid: number; stop(): Promise<void> }> {
  const port = await freePort();
  const script = fileURLToPath(new URL('./echo-server.ts', import.meta.url));
  const child = spawn(process.execPath, [script, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid as number,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
