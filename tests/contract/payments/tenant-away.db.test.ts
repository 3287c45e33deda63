// Where tables are spread, the server of some tenants may be away: who has nothing on it pays as ever.
import type { Database, Queryable } from '@libs/db';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { payment } from './paying.ts';

let harness: Harness;
let awayTenant: string | undefined;
/** What statements for that tenant wait for, where its server stands still and refuses nothing. */
let silence: Promise<void> | undefined;
let keys = 0;

function names(value: unknown, tenantId: string): boolean {
  if (Array.isArray(value)) return value.some((one) => names(one, tenantId));
  return (typeof value === 'string' || Buffer.isBuffer(value)) && value.includes(tenantId);
}

/** As Citus says it. */
const refused = () =>
  Object.assign(new Error('connection to the remote node tests@away:5432 failed'), { code: '08006' });

const listening = <Kind extends Queryable>(db: Kind): Kind => ({
  ...db,
  isSpread: true,
  async query(statement: Parameters<Queryable['query']>[0], values?: readonly unknown[]) {
    if (awayTenant === undefined || !names(values, awayTenant)) return db.query(statement, values);
    if (silence === undefined) throw refused();
    await silence;
    return db.query(statement, values);
  },
});

const withoutServer = (database: Database): Database => ({
  ...listening(database),
  serverOf: async (tenantId) => (tenantId === awayTenant ? 'away' : 'there'),
  transaction: (work, options) => database.transaction((tx) => work(listening(tx)), options),
});

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_ROLE: 'api' }, overhear: withoutServer });
});
afterAll(() => harness.stop());

/** Without the check of the reference, which says nothing of a database that is away. */
async function post(key: string): Promise<number> {
  keys += 1;
  const { status } = await fetch(`${harness.url}/v1/payments`, {
    ...{ method: 'POST', body: JSON.stringify(payment()) },
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      'idempotency-key': `key ${keys}`,
    },
  });
  return status;
}

test('payments that come together with those of a tenant whose server is away are accepted', async () => {
  const [away, there] = [await harness.organisation(), await harness.organisation()];
  for (const { test: key } of [away, there]) expect(await post(key)).toBe(202);
  awayTenant = `${away.id}.test`;
  const both = Array.from({ length: 10 }, () => [away.test, there.test]).flat();
  const statuses = await Promise.all(both.map(post));
  expect(statuses).toEqual(both.map((key) => (key === there.test ? 202 : 503)));
  awayTenant = undefined;
  expect(await post(away.test)).toBe(202);
});

test('payments of others are accepted while those of a tenant whose server does not answer wait for it', async () => {
  const [away, there] = [await harness.organisation(), await harness.organisation()];
  for (const { test: key } of [away, there]) expect(await post(key)).toBe(202);
  const released = Promise.withResolvers<void>();
  [awayTenant, silence] = [`${away.id}.test`, released.promise];
  let answered = 0;
  const waiting = Array.from({ length: 3 }, async () => {
    const status = await post(away.test);
    answered += 1;
    return status;
  });
  for (let round = 0; round < 3; round += 1)
    expect(await Promise.all([there.test, there.test].map(post))).toEqual([202, 202]);
  expect(answered).toBe(0);
  released.resolve();
  expect(await Promise.all(waiting)).toEqual([202, 202, 202]);
  [awayTenant, silence] = [undefined, undefined];
});
