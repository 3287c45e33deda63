import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@libs/runtime/testing';

const root = fileURLToPath(new URL('../..', import.meta.url));
const READY_TRIES_MAX = 1_200;

const PUBLIC_HOST = 'service.example';

export interface LoggedService {
  readonly url: string;
  /** Ends it and gives everything that it printed. */
  stop(): Promise<string>;
  /** At once, as when the machine loses its power. */
  kill(): Promise<void>;
}

/** A service as an operator runs it, with all that it can log. */
export async function startLogged(
  service: 'payments' | 'toolhub',
  env: Record<string, string>,
  /** Where the code is, if it is another version's. */
  folder = root,
): Promise<LoggedService> {
  const port = await freePort();
  const prefix = service.toUpperCase();
  const child = spawn(process.execPath, [`services/${service}/src/main.ts`], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      NODE_ENV: 'production',
      [`${prefix}_PORT`]: String(port),
      [`${prefix}_PUBLIC_URL`]: `https://${PUBLIC_HOST}`,
      [`${prefix}_LOG_LEVEL`]: 'trace',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  const closed = once(child, 'close');
  // A test that failed ends nothing, and its process must not stay behind.
  const endWithTests = () => child.kill('SIGKILL');
  process.once('exit', endWithTests);
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    const ready = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) break;
    if (tries > READY_TRIES_MAX || child.exitCode !== null)
      throw new Error(`${service} did not start: ${printed}`);
    await sleep(100);
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await closed;
      process.off('exit', endWithTests);
      return printed;
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
      process.off('exit', endWithTests);
    },
  };
}

/** A request, with JSON where there is a body; the answer's body as it is. */
export async function send(
  url: string,
  {
    method = 'POST',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<{ status: number; text: string; cookie: string }> {
  const sent = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  // Not fetch, which sets the name itself: the service answers under its public name alone, as behind a proxy.
  const outgoing = request(url, {
    method,
    headers: {
      host: PUBLIC_HOST,
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  outgoing.end(sent);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  const cookie = (answer.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
  return { status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString(), cookie };
}
