// The same key sends nothing twice: one after the other, at once, over two processes, and after a crash.
import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '@libs/db/testing';
import { createIdFactory, createSealer } from '@libs/seal';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConnectorError } from '../connectors/connector.ts';
import type { InternalSession, Session } from '../customers/identity.ts';
import { platformError, testPlatform } from '../mcp/test/platform.ts';
import {
  addCustomer,
  callTool,
  createToolhubDatabase,
  customerSession,
  type Instance,
  type RpcAnswer,
  startInstance,
} from '../mcp/test/rig.ts';
import { canonicalJson, hashArguments } from './arguments-hash.ts';
import { type ArgumentsMarks, createArgumentsMarks } from './arguments-mark.ts';
import { createIdempotency } from './idempotency.ts';

let db: TestDatabase;
let hubs: [Instance, Instance, impatient: Instance];
const IMPATIENT = 2;
const newId = createIdFactory({ now: () => new Date(), randomBytes });
const marks = createArgumentsMarks(createSealer({ keys: [Buffer.alloc(32, 7)] }));
const alpha = testPlatform('alpha');
const tokens = new Map<string, Session | InternalSession>([
  ['one', customerSession('cus_1')],
  ['two', customerSession('cus_2')],
]);

beforeAll(async () => {
  db = await createToolhubDatabase();
  for (const id of ['cus_1', 'cus_2']) await addCustomer(db.database, id);
  const options = { databaseUrl: db.url, connectors: [alpha.connector], tokens };
  hubs = [
    await startInstance(options),
    await startInstance(options),
    await startInstance({ ...options, callTimeoutMs: 250 }),
  ];
});

afterEach(() => {
  alpha.log.during = async () => {};
  alpha.log.calls.length = 0;
});

afterAll(async () => {
  for (const hub of hubs) await hub.close();
  await db?.drop();
});

const send = (args: Record<string, unknown>, { hub = 0, token = 'one', tool = 'alpha_send_note' } = {}) =>
  callTool(hubs[hub]?.url ?? '', token, tool, { text: 'hello', ...args });
const errorOf = (answer: RpcAnswer) => answer.body.result?.structuredContent?.error;

test('[TH-5.9] a repeat returns the first result, sends nothing and costs nothing', async () => {
  const first = await send({ idempotency_key: 'a' });
  const used = (await hubs[0].billing.planState('cus_1')).used;
  const again = await send({ idempotency_key: 'a' }, { hub: 1 });
  expect(again.body.result).toEqual(first.body.result);
  expect(alpha.log.calls).toHaveLength(1);
  expect(alpha.log.calls[0]?.args).toEqual({ text: 'hello' });
  expect((await hubs[0].billing.planState('cus_1')).used).toBe(used);
});

test.each(['alpha_send_note', 'alpha_edit_note', 'alpha_delete_note'])(
  '%s: forty at once over two processes, one call',
  async (tool) => {
    alpha.log.during = () => new Promise((done) => setTimeout(done, 60));
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => send({ idempotency_key: 'b' }, { hub: n % 2, tool })),
    );
    expect(alpha.log.calls).toHaveLength(1);
    for (const { body } of answers) expect(body.result).toEqual(answers[0]?.body.result);
  },
);

test('keys belong to one customer and one tool', async () => {
  await send({ idempotency_key: 'c' });
  await send({ idempotency_key: 'c' }, { token: 'two' });
  await send({ idempotency_key: 'c' }, { tool: 'alpha_delete_note' });
  expect(alpha.log.calls).toHaveLength(3);
});

test('the same key with other arguments is refused', async () => {
  await send({ idempotency_key: 'd' });
  const answer = await send({ idempotency_key: 'd', text: 'other' });
  expect(errorOf(answer)).toMatchObject({
    code: 'invalid_arguments',
    errors: [{ pointer: '/idempotency_key' }],
  });
  expect(alpha.log.calls).toHaveLength(1);
});

test('tools that repeat without harm take no key', async () => {
  for (const tool of ['alpha_mark_note', 'alpha_list_notes'])
    expect(errorOf(await send({ idempotency_key: 'e' }, { tool }))).toMatchObject({
      code: 'invalid_arguments',
    });
});

test('the word of the platform is a first result, too', async () => {
  alpha.log.during = async () => {
    throw platformError();
  };
  await send({ idempotency_key: 'f' });
  alpha.log.during = async () => {};
  expect(errorOf(await send({ idempotency_key: 'f' }))).toMatchObject({ code: 'platform_error' });
  expect(alpha.log.calls).toHaveLength(1);
});

test('a refusal that did nothing leaves the key free', async () => {
  alpha.log.during = async () => {
    throw new ConnectorError('rate_limited', 'Slow down.', { retryAfterSeconds: 1 });
  };
  await send({ idempotency_key: 'g' });
  alpha.log.during = async () => {};
  expect(errorOf(await send({ idempotency_key: 'g' }))).toBeUndefined();
  expect(alpha.log.calls).toHaveLength(2);
});

test('[TH-7.13] so does a failure that says that nothing was done, and only that', async () => {
  for (const nothingDone of [true, false]) {
    const idempotency_key = `done nothing: ${nothingDone}`;
    alpha.log.calls.length = 0;
    alpha.log.during = async () => {
      throw new ConnectorError('platform_unavailable', 'It is away.', { nothingDone });
    };
    const said = nothingDone ? 'It is away.' : 'It is away; what was asked for may have been done';
    expect(errorOf(await send({ idempotency_key }))?.message).toBe(said);
    alpha.log.during = async () => {};
    const again = errorOf(await send({ idempotency_key }));
    expect([again?.code, alpha.log.calls.length]).toEqual(
      nothingDone ? [undefined, 2] : ['platform_unavailable', 1],
    );
  }
});

test('so does the gate', async () => {
  await hubs[0].billing.changeLimit('cus_2', 0);
  expect(errorOf(await send({ idempotency_key: 'h' }, { token: 'two' }))?.code).toBe('limit_exceeded');
  await hubs[0].billing.changeLimit('cus_2', null);
  expect(errorOf(await send({ idempotency_key: 'h' }, { token: 'two' }))).toBeUndefined();
  expect(alpha.log.calls).toHaveLength(1);
});

test('a call that ran out of time is not sent again, and says why', async () => {
  alpha.log.during = () => new Promise(() => {});
  expect(errorOf(await send({ idempotency_key: 'i' }, { hub: IMPATIENT }))?.code).toBe(
    'platform_unavailable',
  );
  alpha.log.during = async () => {};
  const again = errorOf(await send({ idempotency_key: 'i' }));
  expect(again).toMatchObject({
    code: 'platform_unavailable',
    message: expect.stringMatching(/[^.]\. Whether it was carried out is not known/),
  });
  expect(alpha.log.calls).toHaveLength(1);
});

test('a crash between the intent and the result: nothing is sent again, and the answer says so', async () => {
  const dead = await startInstance({
    databaseUrl: db.url,
    connectors: [alpha.connector],
    tokens,
  });
  let started: () => void = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  alpha.log.during = () => {
    started();
    return new Promise(() => {});
  };
  const abort = new AbortController();
  const args = { text: 'hello', idempotency_key: 'j' };
  const lost = callTool(dead.url, 'one', 'alpha_send_note', args, { signal: abort.signal }).catch(() => {});
  await running;
  // What a kill leaves: the rows as they are, and a lease that has run out because nobody renews it.
  const holder = await dead.billing.meter.holder.current();
  await db.database.query('delete from call_holders where id = $1', [holder]);
  alpha.log.during = async () => {};
  const answer = await send({ idempotency_key: 'j' });
  expect(errorOf(answer)).toMatchObject({
    code: 'platform_unavailable',
    message: expect.stringContaining('cut off'),
  });
  expect(alpha.log.calls).toHaveLength(1);
  abort.abort();
  await lost;
  await dead.close();
});

test('a call that still runs after the wait: nothing is sent, and the answer says so', async () => {
  const { database, billing } = hubs[0];
  const impatient = createIdempotency({
    database,
    holder: billing.meter.holder,
    marks,
    newId,
    onError: () => {},
    waitMs: 50,
  });
  const { signal } = new AbortController();
  const call = { customerId: 'cus_1', tool: 't', key: 'k', args: {}, signal };
  const first = await impatient.claim(call);
  const repeat = { ...call, mayRun: false };
  expect((await impatient.claim(call)).kind).toBe('running');
  expect((await impatient.claim(repeat)).kind).toBe('running');
  if (first.kind === 'claimed') await first.release();
  expect((await impatient.claim(repeat)).kind).toBe('freed');
  expect((await impatient.claim(call)).kind).toBe('claimed');
});

test('[TH-5.9] after 24 hours a key is free again for a call with its own result, and the job forgets it alone', async () => {
  const key = 'l';
  const expire = () =>
    db.database.query(`update idempotent_calls set expires_at = now() - interval '1 second' where key = $1`, [
      key,
    ]);
  const first = await send({ idempotency_key: key });
  const { rows } = await db.database.query<{ hours: number }>(
    `select extract(epoch from expires_at - now())::float8 / 3600 as hours from idempotent_calls where key = $1`,
    [key],
  );
  expect(rows[0]?.hours).toBeGreaterThan(23.9);
  expect(rows[0]?.hours).toBeLessThanOrEqual(24);
  await expire();
  const second = await send({ idempotency_key: key });
  expect(alpha.log.calls).toHaveLength(2);
  expect(second.body.result).not.toEqual(first.body.result);
  expect((await send({ idempotency_key: key })).body.result).toEqual(second.body.result);
  await expire();
  await send({ idempotency_key: 'younger' });
  const { database, billing } = hubs[0];
  const { jobs } = createIdempotency({
    database,
    holder: billing.meter.holder,
    marks,
    newId,
    onError: () => {},
  });
  await jobs.handlers[0]?.handle();
  const { rows: left } = await db.database.query<{ key: string }>(
    'select key from idempotent_calls where key = any($1)',
    [[key, 'younger']],
  );
  expect(left).toEqual([{ key: 'younger' }]);
});

test('[TH-5.9] a platform that knows calls by a key takes one of the next day for another, and hears nothing of repeats', async () => {
  const told: (string | null)[] = [];
  alpha.log.during = async ({ context }) => {
    told.push(context.idempotencyKey);
  };
  await send({ idempotency_key: 'day', text: 'yesterday' });
  await db.database.query(
    `update idempotent_calls set expires_at = now() - interval '1 second' where key = 'day'`,
  );
  const today = await send({ idempotency_key: 'day', text: 'today' });
  expect(told).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)]);
  expect(told[1]).not.toBe(told[0]);
  const again = await send({ idempotency_key: 'day', text: 'today' }, { hub: 1 });
  expect(again.body.result).toEqual(today.body.result);
  expect(told).toHaveLength(2);
});

test('[TH-5.9] a key is free again when its call could not even be counted', async () => {
  await db.database.query('alter table plans rename to plans_away');
  const failed = await send({ idempotency_key: 'm' }).finally(() =>
    db.database.query('alter table plans_away rename to plans'),
  );
  expect(failed.status).toBe(500);
  expect(errorOf(await send({ idempotency_key: 'm' }))).toBeUndefined();
  expect(alpha.log.calls).toHaveLength(1);
});

test('the order of members does not matter, their values do', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

describe('what is kept of the arguments', () => {
  const keys = (newest: number, ...older: number[]) =>
    createArgumentsMarks(createSealer({ keys: [newest, ...older].map((byte) => Buffer.alloc(32, byte)) }));
  const under = (known: ArgumentsMarks) => {
    const { database, billing } = hubs[0];
    return createIdempotency({
      database,
      holder: billing.meter.holder,
      marks: known,
      newId,
      onError: () => {},
      waitMs: 0,
    });
  };
  const callOf = (key: string, args = { text: '1234' }) => {
    const { signal } = new AbortController();
    return { customerId: 'cus_1', tool: 't', key, args, signal };
  };
  const keptOf = async (key: string) => {
    const { rows } = await db.database.query<{ arguments_hash: Buffer }>(
      'select arguments_hash from idempotent_calls where key = $1',
      [key],
    );
    return rows[0]?.arguments_hash;
  };

  test('does not tell them to whoever tries them all, nor that two keys stand for the same', async () => {
    for (const key of ['guess', 'same']) await under(keys(1)).claim(callOf(key));
    const kept = [await keptOf('guess'), await keptOf('same'), await hashArguments(callOf('').args)];
    expect(new Set(kept.map((mark) => mark?.toString('hex'))).size).toBe(3);
  });

  test('is known again while keys rotate, and no call runs where its key is gone', async () => {
    await under(keys(1)).claim(callOf('rotated'));
    const again = async (...[newest, ...older]: [number, ...number[]]) =>
      (await under(keys(newest, ...older)).claim(callOf('rotated'))).kind;
    expect([await again(1), await again(2, 1), await again(2)]).toEqual([
      'running',
      'running',
      'other_arguments',
    ]);
    expect((await under(keys(2, 1)).claim(callOf('rotated', { text: '1235' }))).kind).toBe('other_arguments');
  });

  test('by a process of the version before is known, too', async () => {
    await under(keys(1)).claim(callOf('before'));
    await db.database.query('update idempotent_calls set arguments_hash = $2 where key = $1', [
      'before',
      await hashArguments(callOf('').args),
    ]);
    expect((await under(keys(1)).claim(callOf('before'))).kind).toBe('running');
    expect((await under(keys(1)).claim(callOf('before', { text: '1235' }))).kind).toBe('other_arguments');
  });
});
