import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryFlags, memorySettings } from '../../tools/memory.mjs';
import { withCpu } from '../cpu.ts';
import { type BenchDatabase, compiledBefore, freePort, startDatabase } from '../environment.ts';
import { type Load, measured, warmUp } from '../load.ts';
import { median } from '../result.ts';
import { CALL_ARGUMENTS, CALLED_TOOL } from './platform.ts';

export interface Hub {
  url: string;
  token: string;
  pid: number;
  stop(): Promise<void>;
}

function forkHere(file: string, env: Record<string, string> = {}): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...memorySettings, ...compiledBefore, ...process.env, ...env },
    execArgv: memoryFlags('toolhub'),
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** A process of Toolhub on a durable database, with a customer whose plan has no end and whose account is connected. */
export async function startHub(): Promise<Hub> {
  const database: BenchDatabase = await startDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-hub-'));
  const port = await freePort();
  const child = forkHere('./hub-process.ts', {
    ...{ DATA_DIR: dataDir, DATABASE_URL: database.url, TOOLHUB_PORT: String(port) },
    ...{ TOOLHUB_RATE: '0', TOOLHUB_RATE_ADDRESS: '0' },
  });
  await once(child, 'message');
  const url = `http://127.0.0.1:${port}`;
  const token = await signUp(url);
  return {
    url,
    token,
    pid: child.pid as number,
    async stop() {
      await stopChild(child);
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function signUp(url: string): Promise<string> {
  const send = async (method: string, path: string, headers: Record<string, string>, body: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };
  const account = { email: 'bench@example.com', password: 'a long password', name: 'Bench' };
  const signedUp = await send('POST', '/api/auth/signup', {}, account);
  const cookie = (signedUp.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  await send('PUT', '/api/plan', { cookie }, { plan: 'scale' });
  await send('PUT', '/api/credentials/bench?verify=false', { cookie }, { token: 'x' });
  const made = await send('POST', '/api/tokens', { cookie }, { name: 'bench' });
  return ((await made.json()) as { token: string }).token;
}

export async function startPeer(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = forkHere('./peer-process.ts');
  const [url] = (await once(child, 'message')) as [string];
  return { url, stop: () => stopChild(child) };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A request of the newest revision; `session` makes it one of a long-lived connection of the revision before. */
export function mcpLoad(
  target: { url: string; path: string; token?: string; session?: string },
  method: 'tools/call' | 'tools/list',
): Omit<Load, 'seconds' | 'warmupSeconds'> {
  const { url, path, token, session } = target;
  const call = method === 'tools/call' ? { name: CALLED_TOOL, arguments: CALL_ARGUMENTS } : {};
  const modern = session === undefined;
  const params = modern ? { ...call, _meta: META } : call;
  return {
    ...{ url, path, connections: 64, idempotencyKey: 'none', expectStatus: 200 },
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': modern ? '2026-07-28' : '2025-11-25',
      ...(modern ? { 'mcp-method': method } : { 'mcp-session-id': session }),
      ...(modern && method === 'tools/call' ? { 'mcp-name': CALLED_TOOL } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  };
}

const ROUNDS = 3;
const SECONDS = 2;
const WARMUP_ROUNDS = 3;

interface Comparison {
  rounds?: number;
  seconds?: number;
  /** The process that serves them all: then requests are counted per second of its processor time instead of the clock's. */
  pid?: number;
}

/**
 * Takes turns, so that a busy moment of the machine falls on all of them; answers the rates of each turn. They are warmed
 * up in turns, too: where two routes share a server, what was compiled for the first alone is thrown away by the second.
 */
export async function compare(
  loads: readonly Omit<Load, 'seconds' | 'warmupSeconds'>[],
  { rounds = ROUNDS, seconds = SECONDS, pid }: Comparison = {},
): Promise<number[][]> {
  for (let round = 0; round < WARMUP_ROUNDS; round += 1)
    for (const load of loads) await warmUp({ ...load, seconds, warmupSeconds: 1 });
  const turns: number[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const turn: number[] = [];
    for (const load of loads) {
      const send = () => measured({ ...load, seconds, warmupSeconds: 0 });
      const { result, seconds: cpuSeconds } = await withCpu(pid === undefined ? [] : [pid], send);
      turn.push(pid === undefined ? result.perSecond : result.requests / cpuSeconds);
    }
    turns.push(turn);
  }
  return turns;
}

/** Of each of them the middle of all rounds. */
export function middleRates(turns: readonly (readonly number[])[]): number[] {
  return (turns[0] ?? []).map((_, index) => median(turns.map((turn) => turn[index] ?? Number.NaN)));
}

/** The handshake that a long-lived server of the older revisions waits for. */
export async function openSession(url: string): Promise<string> {
  const clientInfo = { name: 'bench', version: '1' };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    }),
  });
  if (!response.ok) throw new Error(`the handshake answered ${response.status}`);
  return 'one';
}
