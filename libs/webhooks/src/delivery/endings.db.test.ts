import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openShop } from '../../test/open-shop.ts';
import { type Receiver, startReceiver } from '../../test/receiver.ts';
import { RULES, SCHEMA, type Shop, TENANT, until } from '../../test/service.ts';
import type { Delivery, DeliveryResult, EndpointRef } from './delivery.ts';
import type { DeliveryDispatcher, DeliveryDispatcherOptions } from './dispatcher.ts';
import { createResultStore } from './result-store.ts';

// How deliveries and endpoints end, with a clock that the test moves.

const DAY_MS = 86_400_000;

let shop: Shop;
let receiver: Receiver;
let running: DeliveryDispatcher[] = [];
let shiftMs = 0;

beforeEach(async () => {
  shiftMs = 0;
  shop = await openShop({
    now: () => new Date(Date.now() + shiftMs),
    queue: { keepUndeliveredMs: 7 * DAY_MS },
  });
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(running.map((dispatcher) => dispatcher.stop()));
  running = [];
  await receiver.close();
  await shop.close();
  expect(shop.errors.splice(0)).toEqual([]);
});

async function start(options?: Partial<DeliveryDispatcherOptions>): Promise<DeliveryDispatcher> {
  const dispatcher = shop.dispatcher(options);
  await dispatcher.start();
  running.push(dispatcher);
  return dispatcher;
}

const list = () => shop.queue.list(shop.database, { tenantId: TENANT, limit: 100 });

async function settled(eventId: string | undefined): Promise<Delivery> {
  const find = async () => (await list()).find((delivery) => delivery.eventId === eventId);
  await until(`${eventId} is settled`, async () => (await find())?.nextAttemptAt === null);
  return (await find()) as Delivery;
}

async function failing(path: string, status = 500): Promise<EndpointRef> {
  receiver.on(path, (_request, response) => response.writeHead(status).end());
  return shop.addEndpoint(receiver.url + path);
}

describe('dead letters', () => {
  const rules = { ...RULES, retryDelaysMs: [], keepUndeliveredMs: 7 * DAY_MS };

  it('are listed with all that a reader needs, kept seven days, and then gone', async () => {
    const ref = await failing('/down');
    const dispatcher = await start({ rules });
    const [eventId] = await shop.emit(ref, 1);
    await settled(eventId);
    const [letter] = await shop.queue.listDead(shop.database, { tenantId: TENANT, limit: 10 });
    expect(letter).toMatchObject({
      eventId,
      status: 'dead',
      url: `${receiver.url}/down`,
      attempts: [{ status: 500 }],
    });
    expect(Number(letter?.expiresAt) - Number(letter?.finishedAt)).toBe(7 * DAY_MS);
    expect(await shop.queue.listDead(shop.database, { tenantId: 'org_other', limit: 10 })).toEqual([]);

    shiftMs = 7 * DAY_MS - 60_000;
    expect(await dispatcher.sweep()).toBe(0);
    expect(await shop.queue.listDead(shop.database, { tenantId: TENANT, limit: 10 })).toHaveLength(1);
    shiftMs = 7 * DAY_MS + 1_000;
    // Gone for readers at its time, whenever the sweep comes.
    expect(await shop.queue.listDead(shop.database, { tenantId: TENANT, limit: 10 })).toEqual([]);
    expect(await shop.queue.retry(shop.database, { tenantId: TENANT, id: letter?.id ?? '' })).toBeUndefined();
    expect(await dispatcher.sweep()).toBe(1);
  });

  it('are replayed under the same event id, with the tries before still in the log', async () => {
    const ref = await failing('/mended');
    await start({ rules });
    const [eventId] = await shop.emit(ref, 1);
    const dead = await settled(eventId);
    receiver.on('/mended', (_request, response) => response.end());
    const revived = await shop.database.transaction((tx) =>
      shop.queue.retry(tx, { tenantId: TENANT, id: dead.id }),
    );
    expect(revived).toMatchObject({ id: dead.id, status: 'pending' });
    expect(await settled(eventId)).toMatchObject({
      id: dead.id,
      status: 'delivered',
      expiresAt: null,
      attempts: [{ status: 500 }, { status: 200 }],
    });
    expect(receiver.to('/mended').map((request) => request.id)).toEqual([eventId, eventId]);
    expect(await shop.queue.listDead(shop.database, { tenantId: TENANT, limit: 10 })).toEqual([]);
  });

  it('come to life once, however many ask at the same time', async () => {
    const ref = await failing('/once');
    const dispatcher = await start({ rules });
    const [eventId] = await shop.emit(ref, 1);
    const dead = await settled(eventId);
    await dispatcher.stop();
    running = [];
    await Promise.all(
      Array.from({ length: 10 }, () =>
        shop.database.transaction((tx) => shop.queue.retry(tx, { tenantId: TENANT, id: dead.id })),
      ),
    );
    const { rowCount } = await shop.database.query(`select 1 from ${SCHEMA}.queue`);
    expect(rowCount).toBe(1);
  });
});

describe('a manual retry', () => {
  it('sends a delivered one again, hurries one that waits, and knows no strangers', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/again`);
    await start();
    const [eventId] = await shop.emit(ref, 1);
    const delivered = await settled(eventId);
    await shop.queue.retry(shop.database, { tenantId: TENANT, id: delivered.id });
    await until('it came twice', () => receiver.to('/again').length === 2);

    const late = await failing('/late');
    await start({ rules: { ...RULES, retryDelaysMs: [DAY_MS] } });
    await shop.emit(late, 1);
    await until('one try was made', async () => (await list())[0]?.attempts.length === 1);
    receiver.on('/late', (_request, response) => response.end());
    const [waiting] = await list();
    await shop.queue.retry(shop.database, { tenantId: TENANT, id: waiting?.id ?? '' });
    await until('it was hurried', () => receiver.to('/late').length === 2);
    expect(
      await shop.queue.retry(shop.database, { tenantId: 'org_other', id: delivered.id }),
    ).toBeUndefined();
  });
});

describe('an endpoint', () => {
  it('that answers 410 is switched off, and what waits for it is abandoned', async () => {
    const ref = await failing('/gone', 410);
    const disabled: unknown[] = [];
    await shop.database.query(`create table ${SCHEMA}.log (reason text)`);
    const ids = await shop.emit(ref, 30);
    await start({
      perEndpointConcurrency: 4,
      hooks: {
        async onDisabled(tx, endpoint, reason) {
          disabled.push({ endpoint, reason });
          await tx.query(`insert into ${SCHEMA}.log values ($1)`, [reason]);
          await tx.query(`update ${SCHEMA}.endpoints set enabled = false where id = $1`, [
            endpoint.endpointId,
          ]);
        },
      },
    });
    for (const id of ids) expect((await settled(id)).status).toBe('abandoned');
    expect(disabled).toEqual([{ endpoint: ref, reason: 'gone' }]);
    expect(receiver.to('/gone').length).toBeLessThan(30);
    expect((await shop.database.query(`select * from ${SCHEMA}.log`)).rows).toEqual([{ reason: 'gone' }]);
  });

  it('that only fails for five days is switched off at the next failure, and not before', async () => {
    const ref = await failing('/broken');
    const reasons: string[] = [];
    const dispatcher = await start({
      disableAfterMs: 5 * DAY_MS,
      rules: { ...RULES, retryDelaysMs: Array(10).fill(DAY_MS) },
      hooks: { onDisabled: async (_tx, _ref, reason) => void reasons.push(reason) },
    });
    const [eventId] = await shop.emit(ref, 1);
    for (let day = 0; day < 5; day += 1) {
      await until(`day ${day} is tried`, async () => (await list())[0]?.attempts.length === day + 1);
      expect(reasons).toEqual([]);
      shiftMs = (day + 1) * DAY_MS + 1_000;
      await dispatcher.poll();
    }
    expect((await settled(eventId)).status).toBe('abandoned');
    expect(reasons).toEqual(['failing']);
  });

  it('that answers once in between starts its days anew', async () => {
    const ref = await failing('/moody');
    const reasons: string[] = [];
    const dispatcher = await start({
      disableAfterMs: 5 * DAY_MS,
      rules: { ...RULES, retryDelaysMs: [] },
      hooks: { onDisabled: async (_tx, _ref, reason) => void reasons.push(reason) },
    });
    await settled((await shop.emit(ref, 1))[0]);
    shiftMs = 3 * DAY_MS;
    receiver.on('/moody', (_request, response) => response.end());
    await settled((await shop.emit(ref, 1))[0]);
    receiver.on('/moody', (_request, response) => response.writeHead(500).end());
    shiftMs = 6 * DAY_MS;
    await settled((await shop.emit(ref, 1))[0]);
    expect(reasons).toEqual([]);
    shiftMs = 12 * DAY_MS;
    await dispatcher.poll();
    await settled((await shop.emit(ref, 1))[0]);
    expect(reasons).toEqual(['failing']);
  });

  it('that is deleted takes its deliveries along, and so does an event that is no more', async () => {
    const ref = await failing('/deleted');
    await start({ rules: { ...RULES, retryDelaysMs: [DAY_MS] } });
    const [eventId] = await shop.emit(ref, 1);
    await until('one try was made', async () => (await list())[0]?.attempts.length === 1);
    expect(await shop.queue.abandonEndpoint(shop.database, ref)).toBe(1);
    expect(await settled(eventId)).toMatchObject({ status: 'abandoned', attempts: [{ status: 500 }] });

    await shop.database.query(`update ${SCHEMA}.endpoints set enabled = false`);
    const [unsent] = await shop.emit(ref, 1);
    expect(await settled(unsent)).toMatchObject({ status: 'abandoned', attempts: [] });

    const other = await shop.addEndpoint(`${receiver.url}/never`);
    await shop.database.transaction((tx) =>
      shop.queue.enqueue(tx, [{ ...other, eventId: 'evt_missing', eventType: 'order.paid' }]),
    );
    expect(await settled('evt_missing')).toMatchObject({ status: 'abandoned', attempts: [] });
    expect(receiver.to('/never')).toEqual([]);
  });
});

describe('hooks', () => {
  it('commit with the results, kind by kind', async () => {
    await shop.database.query(`create table ${SCHEMA}.log (kind text, event_id text)`);
    const note = (kind: string): NonNullable<DeliveryDispatcherOptions['hooks']>['onDead'] => {
      return async (tx, results) => {
        for (const { eventId } of results) {
          await tx.query(`insert into ${SCHEMA}.log values ($1, $2)`, [kind, eventId]);
        }
      };
    };
    const [onDelivered, onFailed, onDead] = ['delivered', 'failed', 'dead'].map(note);
    await start({
      rules: { ...RULES, retryDelaysMs: [10] },
      hooks: { onDelivered: onDelivered!, onFailed: onFailed!, onDead: onDead! },
    });
    const [bad] = await shop.emit(await failing('/bad'), 1);
    const [good] = await shop.emit(await shop.addEndpoint(`${receiver.url}/good`), 1);
    await Promise.all([settled(bad), settled(good)]);
    const { rows } = await shop.database.query(
      `select kind, event_id from ${SCHEMA}.log order by event_id, kind desc`,
    );
    expect(rows).toEqual([
      { kind: 'failed', event_id: bad },
      { kind: 'dead', event_id: bad },
      { kind: 'delivered', event_id: good },
    ]);
  });

  it('that fail hold up their own endpoint alone', async () => {
    const poisoned = await shop.addEndpoint(`${receiver.url}/poisoned`);
    const healthy = await shop.addEndpoint(`${receiver.url}/healthy`);
    await start({
      hooks: {
        async onDelivered(_tx, results) {
          if (results.some((result) => result.endpointId === poisoned.endpointId)) throw new Error('poison');
        },
      },
    });
    const [bad] = await shop.emit(poisoned, 1);
    const ids = await shop.emit(healthy, 20);
    for (const id of ids) expect((await settled(id)).status).toBe('delivered');
    await until('it was put off', async () => {
      const delivery = (await list()).find((one) => one.eventId === bad);
      return Number(delivery?.nextAttemptAt) > Date.now() + 30_000;
    });
    expect(shop.errors.splice(0).map(String)).toContain('Error: poison');
  });
});

describe('what cannot be read', () => {
  it('is put off and sent when it can', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/later`);
    let isBroken = true;
    await start({
      loadEvents: async (refs) => {
        if (isBroken) throw new Error('no events');
        return refs.map((event) => ({ ...event, body: '{}' }));
      },
    });
    const [eventId] = await shop.emit(ref, 1);
    await until('it was tried', () => shop.errors.length > 0);
    isBroken = false;
    expect((await settled(eventId)).status).toBe('delivered');
    expect(shop.errors.splice(0).map(String)).toContain('Error: no events');
  });
});

describe('lists', () => {
  it('are newest first, by endpoint, in pages, waiting and finished together', async () => {
    const [up, down] = [await shop.addEndpoint(`${receiver.url}/up`), await failing('/pages')];
    await start({ rules: { ...RULES, retryDelaysMs: [DAY_MS] } });
    const expected: (string | undefined)[] = [];
    for (let round = 0; round < 6; round += 1)
      expected.unshift((await shop.emit(round % 2 ? up : down, 1))[0]);
    await until('all were tried', async () =>
      (await list()).every((delivery) => delivery.attempts.length === 1),
    );
    const pages: Delivery[] = [];
    for (;;) {
      const beforeId = pages.at(-1)?.id;
      const page = await shop.queue.list(shop.database, {
        tenantId: TENANT,
        limit: 2,
        ...(beforeId === undefined ? {} : { beforeId }),
      });
      if (page.length === 0) break;
      pages.push(...page);
    }
    expect(pages.map((delivery) => delivery.eventId)).toEqual(expected);
    expect(pages.map((delivery) => delivery.status)).toEqual([
      'delivered',
      'pending',
      'delivered',
      'pending',
      'delivered',
      'pending',
    ]);
    const own = await shop.queue.list(shop.database, {
      tenantId: TENANT,
      endpointId: down.endpointId,
      limit: 10,
    });
    expect(own).toHaveLength(3);
    expect(await shop.queue.find(shop.database, { tenantId: TENANT, id: own[0]?.id ?? '' })).toEqual(own[0]);
    expect(
      await shop.queue.find(shop.database, { tenantId: 'org_other', id: own[0]?.id ?? '' }),
    ).toBeUndefined();
  });

  it('lose delivered rows after the time they are kept', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/kept`);
    const dispatcher = await start({ keepDeliveredMs: 90 * DAY_MS });
    await settled((await shop.emit(ref, 1))[0]);
    shiftMs = 89 * DAY_MS;
    expect(await dispatcher.sweep()).toBe(0);
    // Its part goes when the last one that may be in it is past its time.
    shiftMs = (90 + 5 + 20) * DAY_MS;
    expect(await dispatcher.sweep()).toBe(1);
    expect(await list()).toEqual([]);
  });

  it('lose nothing that is kept for longer when their part goes', async () => {
    const ref = await failing('/longer');
    const dispatcher = await start({ keepDeliveredMs: DAY_MS });
    const [eventId] = await shop.emit(ref, 1);
    await shop.database.transaction((tx) => shop.queue.abandonEndpoint(tx, ref));
    await shop.database.query(`update ${SCHEMA}.deliveries set expires_at = '2200-01-01'`);
    shiftMs = 40 * DAY_MS;
    expect(await dispatcher.sweep()).toBe(1);
    expect((await list()).map((delivery) => delivery.eventId)).toEqual([eventId]);
  });

  it('lose what was delivered, also of a part that stays because very much of it is kept for longer', async () => {
    const ref = await failing('/much');
    const dispatcher = await start({ keepDeliveredMs: DAY_MS });
    await shop.emit(ref, 1);
    await shop.database.transaction((tx) => shop.queue.abandonEndpoint(tx, ref));
    const copy = (status: string, count: number) =>
      shop.database.query(
        `insert into ${SCHEMA}.deliveries select tenant_id, id || $1 || n, endpoint_id, event_id, event_type, $1, tries, attempts,
  url, created_at, finished_at, null from ${SCHEMA}.deliveries, generate_series(1, $2::int) as n where length(id) < 40`,
        [status, count],
      );
    await copy('delivered', 5);
    await copy('abandoned', 10_001);
    shiftMs = 40 * DAY_MS;
    // The one that they were copied from has run out.
    expect(await dispatcher.sweep()).toBe(1 + 5);
    const { rows } = await shop.database.query(
      `select status, count(*)::int as n from ${SCHEMA}.deliveries where tableoid <> '${SCHEMA}.deliveries_default'::regclass group by 1`,
    );
    expect(rows).toEqual([{ status: 'abandoned', n: 10_001 }]);
  });

  it('keep what arrived by a late retry for its whole time, though its part goes', async () => {
    const ref = await failing('/late');
    const rules = { ...RULES, retryDelaysMs: [] };
    const dispatcher = await start({ rules, keepDeliveredMs: 30 * DAY_MS });
    const [eventId] = await shop.emit(ref, 1);
    const { id } = await settled(eventId);
    await shop.database.query(`update ${SCHEMA}.deliveries set expires_at = '2200-01-01'`);
    receiver.on('/late', (_request, response) => response.end());
    shiftMs = 40 * DAY_MS;
    await shop.database.transaction((tx) => shop.queue.retry(tx, { tenantId: TENANT, id }));
    expect((await settled(eventId)).status).toBe('delivered');
    const parts = () =>
      shop.database.query(`select tableoid::regclass::text as part from ${SCHEMA}.deliveries`);
    const { rows: before } = await parts();
    shiftMs = 69 * DAY_MS;
    await dispatcher.sweep();
    expect((await list()).map((delivery) => delivery.eventId)).toEqual([eventId]);
    expect((await parts()).rows).not.toEqual(before);
    shiftMs = 71 * DAY_MS;
    await dispatcher.sweep();
    expect(await list()).toEqual([]);
  });
});

it('an endpoint can be deleted while a failure of it is being written down', async () => {
  const ref = await failing('/deleted');
  await shop.emit(ref, 1);
  const results = createResultStore(shop.database, SCHEMA);
  const now = new Date();
  await results.noteFailures(shop.database, [ref], now, now);
  const rowIsHeld = Promise.withResolvers<void>();
  const deletionWaits = Promise.withResolvers<void>();
  // As a result is written: first its row in the queue, then the failure.
  const writing = shop.database.transaction(async (tx) => {
    await tx.query(`update ${SCHEMA}.queue set tries = tries where tenant_id = $1`, [TENANT]);
    rowIsHeld.resolve();
    await deletionWaits.promise;
    await results.noteFailures(tx, [ref], now, now);
  });
  await rowIsHeld.promise;
  const deleting = shop.database.transaction((tx) => shop.queue.abandonEndpoint(tx, ref));
  await until('the deletion waits', async () => {
    const { rows } = await shop.database.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  });
  deletionWaits.resolve();
  await writing;
  expect(await deleting).toBe(1);
});

it('of two processes that tried the same delivery, the first to write counts and the other changes nothing', async () => {
  const ref = await shop.addEndpoint(`${receiver.url}/hook`);
  await shop.emit(ref, 1);
  const [{ id, eventId }] = (await list()) as [Delivery];
  const store = createResultStore(shop.database, SCHEMA);
  const at = new Date(Date.now() + DAY_MS);
  const attempt = { at: at.toISOString(), status: 500, error: 'answered 500', duration_ms: 1 };
  const shared = { ...ref, id, eventId, url: `${receiver.url}/hook`, attempt, step: 1, early: false };
  const retried = (tries: number, dueAt: Date): DeliveryResult => ({
    ...{ ...shared, tries, kind: 'retry', status: 'pending' },
    ...{ nextAttemptAt: dueAt, finishedAt: null, expiresAt: null },
  });
  const finished = (tries: number): DeliveryResult => ({
    ...{ ...shared, tries, kind: 'exhausted', status: 'dead' },
    ...{ nextAttemptAt: null, finishedAt: at, expiresAt: null },
  });
  expect(await store.recordRetries(shop.database, [retried(0, at)])).toEqual([id]);
  const before = await list();
  expect(before).toMatchObject([{ status: 'pending', attempts: [attempt], nextAttemptAt: at }]);
  expect(await store.recordRetries(shop.database, [retried(0, new Date())])).toEqual([]);
  expect(await store.recordFinished(shop.database, [finished(0)])).toEqual([]);
  expect(await list()).toEqual(before);
  expect(await store.recordFinished(shop.database, [finished(1)])).toEqual([id]);
  expect(await list()).toMatchObject([{ status: 'dead', attempts: [attempt, attempt] }]);
});
