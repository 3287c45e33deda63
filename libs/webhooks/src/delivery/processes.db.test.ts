import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createEgressPolicy, createPoster } from '@libs/egress';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openShop } from '../../test/open-shop.ts';
import { type Receiver, startReceiver } from '../../test/receiver.ts';
import { createShop, SCHEMA, type Shop, until } from '../../test/service.ts';

// Several processes on one database: nothing is sent twice while all live, nothing is lost when one is killed.

/** Starting a process takes its time on a machine with other work. */
const TIMEOUT_MS = 60_000;
const SENDER = fileURLToPath(new URL('../../test/sender-process.ts', import.meta.url));

const poster = createPoster(createEgressPolicy({ development: true }));
afterAll(() => poster.destroy());

let shop: Shop;
let receiver: Receiver;
let children: ChildProcess[] = [];

beforeEach(async () => {
  shop = await openShop();
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  await receiver.close();
  await shop.close();
  expect(shop.errors).toEqual([]);
});

async function startProcess(): Promise<ChildProcess> {
  const child = fork(SENDER, [shop.url], { execArgv: [] });
  children.push(child);
  await once(child, 'message');
  return child;
}

const waiting = async () => {
  const { rows } = await shop.database.query<{ count: number }>(
    `select count(*)::int as count from ${SCHEMA}.queue`,
  );
  return rows[0]?.count ?? 0;
};

describe('a killed process', { timeout: TIMEOUT_MS }, () => {
  it('loses nothing: after kill -9 in the middle of 200 deliveries all arrive, each under its id', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/hook`);
    receiver.on('/hook', (_request, response) => setTimeout(() => response.end(), 20));
    const ids = await shop.emit(ref, 200);
    const child = await startProcess();
    await until('some have arrived', () => receiver.received.length >= 30);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const before = new Set(receiver.received.map((request) => request.id));
    expect(before.size).toBeLessThan(200);
    await startProcess();
    await until('the queue is empty', async () => (await waiting()) === 0);
    const arrived = new Map<string, number>();
    for (const { id } of receiver.received) arrived.set(id, (arrived.get(id) ?? 0) + 1);
    expect([...arrived.keys()].sort()).toEqual([...ids].sort());
    // Only what was under way or unwritten at the moment of the kill may come twice.
    const twice = [...arrived.values()].filter((count) => count > 1).length;
    expect(twice).toBeLessThan(100);
  });

  it('is replaced at once by one that runs already', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/hook`);
    let isAnswering = false;
    receiver.on('/hook', (_request, response) => void (isAnswering && response.end()));
    const first = await startProcess();
    const ids = await shop.emit(ref, 100);
    await until('the first is at work', () => receiver.received.length > 5);
    await startProcess();
    first.kill('SIGKILL');
    await once(first, 'exit');
    isAnswering = true;
    await until('the queue is empty', async () => (await waiting()) === 0);
    expect(new Set(receiver.received.map((request) => request.id))).toEqual(new Set(ids));
  });

  it('that is asked to stop ends what it began and leaves the rest', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/hook`);
    receiver.on('/hook', (_request, response) => setTimeout(() => response.end(), 30));
    const child = await startProcess();
    await shop.emit(ref, 300);
    await until('it is at work', () => receiver.received.length > 20);
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    const sent = receiver.received.length;
    expect(sent + (await waiting())).toBe(300);
    await startProcess();
    await until('the queue is empty', async () => (await waiting()) === 0);
    expect(receiver.received).toHaveLength(300);
  });
});

describe('several dispatchers', { timeout: TIMEOUT_MS }, () => {
  it('share the endpoints and send each delivery once', async () => {
    const refs = await Promise.all(
      Array.from({ length: 8 }, (_, index) => shop.addEndpoint(`${receiver.url}/${index}`)),
    );
    await startProcess();
    const own = shop.dispatcher({ pollMs: 200 });
    await own.start();
    const emitted = new Set<string>();
    for (let round = 0; round < 5; round += 1) {
      const ids = await Promise.all(refs.map((ref) => shop.emit(ref, 5)));
      for (const id of ids.flat()) emitted.add(id);
    }
    await until('the queue is empty', async () => (await waiting()) === 0);
    await own.stop();
    expect(receiver.received).toHaveLength(200);
    expect(new Set(receiver.received.map((request) => request.id))).toEqual(emitted);
  });

  it('tell each other of rows that one commits and another owns, without waiting for a poll', async () => {
    const quiet = createShop(shop.database, poster, { queue: { notify: false } });
    const ref = await shop.addEndpoint(`${receiver.url}/hook`);
    const [owner, other] = [shop.dispatcher({ pollMs: 60_000 }), shop.dispatcher({ pollMs: 60_000 })];
    await owner.start();
    await other.start();
    await quiet.emit(ref, 1, owner);
    await until('the owner sent it', () => receiver.received.length === 1);
    for (let round = 0; round < 5; round += 1) {
      await quiet.emit(ref, 2, other);
      await until(`round ${round} arrived`, () => receiver.received.length === 3 + round * 2);
    }
    await until('the queue is empty', async () => (await waiting()) === 0);
    await Promise.all([owner.stop(), other.stop()]);
    expect(receiver.received).toHaveLength(11);
  });

  it('go on under a new name after others took them for dead', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/hook`);
    const dispatcher = shop.dispatcher({ pollMs: 200, silenceMs: 500 });
    await dispatcher.start();
    await shop.emit(ref, 1);
    await until('the first arrived', () => receiver.received.length === 1);
    await shop.database.query(`delete from ${SCHEMA}.dispatchers`);
    await shop.database.query(`delete from ${SCHEMA}.lanes`);
    await shop.emit(ref, 5);
    await until('the queue is empty', async () => (await waiting()) === 0);
    await dispatcher.stop();
    expect(receiver.received).toHaveLength(6);
    const { rows } = await shop.database.query(
      `select 1 from ${SCHEMA}.dispatchers union all select 2 from ${SCHEMA}.lanes`,
    );
    expect(rows).toEqual([]);
  });

  it('survive the loss of every connection to the database', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/hook`);
    const dispatcher = shop.dispatcher({ pollMs: 200 });
    await dispatcher.start();
    await shop.emit(ref, 1);
    await until('the first arrived', () => receiver.received.length === 1);
    await shop.database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await sleep(50);
    const ids = await shop.emit(ref, 20);
    await until('the queue is empty', async () => (await waiting()) === 0);
    await dispatcher.stop();
    expect(new Set(receiver.received.slice(1).map((request) => request.id))).toEqual(new Set(ids));
    // The cut itself is reported; it is no failure of this test.
    expect(shop.errors.splice(0).length).toBeGreaterThanOrEqual(1);
  });

  it('give a lane back when it is idle, and take it again when needed', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/hook`);
    const dispatcher = shop.dispatcher({ pollMs: 50, laneIdleMs: 100 });
    await dispatcher.start();
    // The answer comes when the lane was looked at, so that it is not idle before.
    const { promise: lookedAt, resolve: answer } = Promise.withResolvers<void>();
    receiver.on('/hook', (_request, response) => void lookedAt.then(() => response.end()));
    await shop.emit(ref, 1);
    const lanes = async () => (await shop.database.query(`select 1 from ${SCHEMA}.lanes`)).rowCount;
    await until('the lane is taken', async () => (await lanes()) === 1);
    answer();
    await until('the lane is given back', async () => (await lanes()) === 0);
    await shop.emit(ref, 1);
    await until('the second arrived', () => receiver.received.length === 2);
    await dispatcher.stop();
  });
});
