// Where tables are spread, the server of some tenants may be away: who has nothing on it pays as ever.
import type { Database, Queryable } from '@libs/db';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { payment } from './paying.ts';

let harness: Harness;
let awayTenant: string | undefined;
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
    if (awayTenant !== undefined && names(values, awayTenant)) throw refused();
    return db.query(statement, values);
  },
});

const withoutServer = (database: Database): Database => ({
  ...listening(database),
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
