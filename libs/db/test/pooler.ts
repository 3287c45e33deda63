import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Debian's package puts it here; `tools/system.mjs` installs it for the tests where it may. */
export const PGBOUNCER = '/usr/sbin/pgbouncer';

/** Where the run's pooler is, when the tests go through one (`npm run pooled`). */
const POOLER_VARIABLE = 'TEST_POOLER_URL';
const READY_TRIES_MAX = 100;
const READY_TRY_MS = 50;

export interface TestPooler {
  /** Its own address; every database of the server is behind it, under the name it has there. */
  url: string;
  stop(): Promise<void>;
}

/** PgBouncer in transaction mode in front of a server. */
export async function startPooler(serverUrl: string): Promise<TestPooler> {
  const server = new URL(serverUrl);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'test-pooler-'));
  const settings = join(folder, 'pgbouncer.ini');
  await writeFile(
    settings,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${decodeURIComponent(server.password)}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 1000
default_pool_size = 20
server_idle_timeout = 2
server_login_retry = 1
`,
  );
  // It refuses to run as root, and whom it becomes must be able to read this.
  await chmod(folder, 0o755);
  const identity = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(PGBOUNCER, ['-q', ...identity, settings], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  for (let tries = 1; !(await accepts(port)); tries += 1) {
    if (tries < READY_TRIES_MAX && child.exitCode === null) await sleep(READY_TRY_MS);
    else {
      await stop();
      throw new Error(`PgBouncer did not start: ${Buffer.concat(said).toString()}`);
    }
  }
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  return { url: url.href, stop };
}

/** How a test database is reached: through the run's pooler if there is one. */
export function connectionTo(
  databaseUrl: string,
  poolerUrl = process.env[POOLER_VARIABLE],
): { url: string; directUrl?: string } {
  if (poolerUrl === undefined) return { url: databaseUrl };
  const pooled = new URL(poolerUrl);
  pooled.pathname = new URL(databaseUrl).pathname;
  return { url: pooled.href, directUrl: databaseUrl };
}

/** The same for a process: the settings of the product with this prefix. */
export function databaseSettings(
  prefix: 'PAYMENTS' | 'TOOLHUB',
  databaseUrl: string,
  poolerUrl = process.env[POOLER_VARIABLE],
): Record<string, string> {
  const { url, directUrl } = connectionTo(databaseUrl, poolerUrl);
  return {
    [`${prefix}_DATABASE_URL`]: url,
    ...(directUrl === undefined ? {} : { [`${prefix}_DATABASE_DIRECT_URL`]: directUrl }),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}
