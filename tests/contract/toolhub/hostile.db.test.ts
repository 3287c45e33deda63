// Hostile clients against a real process, while another customer is served. How long others would have to wait is the
// processor time that the process spends in one go; the machine's own load is no part of it.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  type SpawnedInstance,
  spawnInstance,
} from '../../../services/toolhub/test/instance.ts';
import { ATTACKS, type AttackKind } from './attack-kinds.ts';

let database: TestDatabase;
let hub: SpawnedInstance;
let receiver: Server;
let good: string;
let bad: string;

const FIRST_MS = 250;
/** A round has at least one whole attack in it, and ends once it had a few. */
const ROUND_MS_MIN = 400;
const ROUND_MS_MAX = 1_250;
const ROUND_ANSWERS = 3;
const ROUNDS_MAX = 3;
const HELD_MS_MAX = 100;
const MEMORY_BYTES_MAX = 200 * 1024 * 1024;

beforeAll(async () => {
  // A receiver that never ends its answer.
  receiver = createServer((_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'.repeat(64 * 1024)), 5);
    response.on('close', () => clearInterval(timer));
  }).listen(0, '127.0.0.1');
  await new Promise((ready) => receiver.once('listening', ready));
  const { port } = receiver.address() as AddressInfo;
  database = await createToolhubDatabase();
  hub = await spawnInstance(database.url, {
    env: { TOOLHUB_EGRESS_ALLOW: `127.0.0.1:${port}`, TOOLHUB_RATE_API: '10' },
  });
  const [one, other] = await Promise.all([signUp(hub.url), signUp(hub.url)]);
  good = (await makeToken(hub.url, one)).token;
  bad = (
    await makeToken(hub.url, other, {
      scopes: ['tools:read', 'tools:write', 'account:read', 'account:write'],
    })
  ).token;
  const set = await call(`${hub.url}/api/webhooks/config`, {
    token: bad,
    body: { webhook_url: `http://127.0.0.1:${port}/endless` },
  });
  expect(set.status).toBe(201);
});

afterAll(async () => {
  await Promise.all([...prepared.values()].map(({ worker }) => worker.terminate()));
  await hub.stop();
  await database.drop();
  receiver.closeAllConnections();
  receiver.close();
});

/** Its bodies take a while to build, so the next one is made ready while one is at work. */
const prepared = new Map<AttackKind, { worker: Worker; ready: Promise<unknown> }>();

function prepare(kind: AttackKind | undefined): { worker: Worker; ready: Promise<unknown> } | undefined {
  if (kind === undefined) return undefined;
  let attacker = prepared.get(kind);
  if (attacker === undefined) {
    const worker = new Worker(new URL('./attackers.ts', import.meta.url), {
      workerData: { url: hub.url, token: bad, kind },
    });
    attacker = { worker, ready: once(worker, 'message') };
    prepared.set(kind, attacker);
  }
  return attacker;
}

/** A sign of life and another customer's call, over and over. */
async function serveOthers(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const [alive, called] = await Promise.all([
      fetch(`${hub.url}/healthz`),
      callTool(hub.url, good, 'accounts_list'),
    ]);
    expect([alive.status, called.status]).toEqual([200, 200]);
    await new Promise((resume) => setTimeout(resume, 20));
  }
}

function memoryBytes(): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * 1024;
}

test.each(ATTACKS)(
  '[TH-13.14] %s: nobody else waits, and memory stays',
  async (kind) => {
    const before = memoryBytes();
    const { worker: attacker, ready } = prepare(kind) as NonNullable<ReturnType<typeof prepare>>;
    await ready;
    let answers = 0;
    attacker.on('message', () => {
      answers += 1;
    });
    attacker.postMessage('go');
    prepare(ATTACKS[ATTACKS.indexOf(kind) + 1]);
    // What is compiled at the first request holds nobody up at the second; what an input costs, it costs every time.
    const begun = performance.now();
    await serveOthers(() => performance.now() > begun + FIRST_MS);
    await hub.longestHoldMs();
    // A collection of garbage, or a core that others use, is not what the input costs: that comes in every round.
    let heldMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS_MAX && heldMs > HELD_MS_MAX; round += 1) {
      const start = { ms: performance.now(), answers };
      await serveOthers(() => {
        const ms = performance.now() - start.ms;
        return ms > ROUND_MS_MAX || (ms > ROUND_MS_MIN && answers - start.answers >= ROUND_ANSWERS);
      });
      heldMs = Math.min(heldMs, await hub.longestHoldMs());
    }
    await attacker.terminate();
    expect(heldMs, 'ms of the processor in one go').toBeLessThanOrEqual(HELD_MS_MAX);
    await expect.poll(() => memoryBytes() - before, { interval: 500 }).toBeLessThan(MEMORY_BYTES_MAX);
  },
  60_000,
);
