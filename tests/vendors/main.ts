// npm run vendors: the vendors' servers, and a Toolhub that is connected to all of them for a customer of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEverything } from './everything.ts';

const EMAIL = 'demo@example.com';
const PASSWORD = 'demo password of the vendors';
const READY_TRIES_MAX = 1_200;
const READY_STEP_MS = 100;

const port = process.env.TOOLHUB_PORT ?? '4100';
const hub = `http://localhost:${port}`;
const folder = await mkdtemp(join(tmpdir(), 'toolhub-vendors-'));
const everything = await startEverything();
const child = spawn(
  process.execPath,
  [
    '--disable-warning=ExperimentalWarning',
    fileURLToPath(new URL('../../services/toolhub/src/main.ts', import.meta.url)),
  ],
  {
    stdio: ['ignore', 'ignore', 'inherit'],
    // What it stores is gone with it: nothing of a demonstration shall be taken for somebody's data.
    env: {
      ...{ TOOLHUB_LOG_LEVEL: 'warn', TOOLHUB_RATE_API: '0' },
      ...process.env,
      ...everything.environment,
      ...{ TOOLHUB_PORT: port, DATA_DIR: folder },
    },
    // In a process group of its own, so that Ctrl-C arrives once, from here.
    detached: true,
  },
);
const exited = once(child, 'exit');

let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.on(signal, () => {
    isStopping = true;
    child.kill('SIGTERM');
  });
// npm runs this through a shell, and a signal to npm ends that shell without reaching us: its end is our signal.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.emit('SIGTERM');
}, 250).unref();

async function call<Body>(path: string, options: { method: string; cookie?: string; body: unknown }) {
  const { method, cookie, body } = options;
  const answer = await fetch(`${hub}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(cookie === undefined ? {} : { cookie }) },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  return {
    cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '',
    body: (await answer.json()) as Body,
  };
}

async function untilReady(): Promise<void> {
  for (let tries = 0; tries < READY_TRIES_MAX && child.exitCode === null && !isStopping; tries += 1) {
    const answer = await fetch(`${hub}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    await new Promise((resume) => setTimeout(resume, READY_STEP_MS));
  }
  throw new Error('Toolhub did not start');
}

async function connectEverything(): Promise<string> {
  const account = { email: EMAIL, password: PASSWORD, name: 'Demo' };
  const { cookie } = await call('/api/auth/signup', { method: 'POST', body: account });
  for (const [platform, body] of Object.entries(everything.credentials))
    await call(`/api/credentials/${platform}`, { method: 'PUT', cookie, body });
  const made = await call<{ token: string }>('/api/tokens', {
    method: 'POST',
    cookie,
    body: { name: 'demo' },
  });
  return made.body.token;
}

function announce(token: string): void {
  const pages = Object.entries(everything.pages).map(([name, url]) => `    ${name.padEnd(10)} ${url}`);
  process.stdout.write(
    [
      `Toolhub        ${hub}`,
      `  log in       ${EMAIL}  ${PASSWORD}`,
      `  MCP endpoint ${hub}/mcp`,
      `  token        ${token}`,
      `Vendors        ${everything.url}`,
      `  what arrived there:`,
      ...pages,
      '',
      'Try it:',
      `  claude mcp add --transport http demo ${hub}/mcp --header "Authorization: Bearer ${token}"`,
      `  curl -sS ${hub}/mcp -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' \\`,
      `    -H 'Accept: application/json, text/event-stream' \\`,
      `    -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slack_list_channels","arguments":{}}}'`,
      '',
      'Ready. Ctrl-C ends everything and keeps nothing.',
      '',
    ].join('\n'),
  );
}

let exitCode = 0;
try {
  await untilReady();
  const token = await connectEverything();
  await everything.greet(hub);
  announce(token);
} catch (error) {
  if (!isStopping) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    exitCode = 1;
    child.kill('SIGTERM');
  }
}
await exited;
await everything.stop();
await rm(folder, { recursive: true, force: true });
process.exit(exitCode);
