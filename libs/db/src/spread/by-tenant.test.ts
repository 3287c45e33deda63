// Statements over many tenants: one for all on one server, and one for each tenant, in one order, where tables are spread.
import { expect, test } from 'vitest';
import type { Database, PreparedStatement, Queryable } from '../database.ts';
import { queryByTenant, tenantStatement, withinTransaction } from './by-tenant.ts';

const items = [
  { tenantId: 'b', id: 1 },
  { tenantId: 'c', id: 2 },
  { tenantId: 'a', id: 3 },
  { tenantId: 'b', id: 4 },
];
const statement = tenantStatement('rows.read', (tenant) => `select ${tenant}`);

function trial(isSpread: boolean) {
  const asked: unknown[] = [];
  const db = {
    isSpread,
    async query({ name, text }: PreparedStatement, [ids]: [number[]]) {
      asked.push([name, text, ids]);
      return { rows: ids.map((id) => ({ id })), rowCount: ids.length };
    },
  } as unknown as Queryable;
  const read = () => queryByTenant(db, statement, items, (some) => [some.map(({ id }) => id)]);
  return { asked, read };
}

test('one server is asked once for all', async () => {
  const { asked, read } = trial(false);
  expect(await read()).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]);
  expect(asked).toEqual([['rows.read', 'select wanted.tenant_id', [1, 2, 3, 4]]]);
});

test('where tables are spread each tenant is asked for its own, in the order that everybody has', async () => {
  const { asked, read } = trial(true);
  expect(await read()).toEqual([{ id: 3 }, { id: 1 }, { id: 4 }, { id: 2 }]);
  const apart = ['rows.read.apart', 'select ($1::text[])[1]'];
  expect(asked).toEqual([
    [...apart, [3]],
    [...apart, [1, 4]],
    [...apart, [2]],
  ]);
});

test('several statements are one transaction: that of the caller, or one of their own', async () => {
  const tx = {} as Queryable;
  const own = { transaction: (work: (given: Queryable) => unknown) => work(tx) } as unknown as Database;
  expect(await withinTransaction(own, async (given) => given === tx)).toBe(true);
  expect(await withinTransaction(tx, async (given) => given === tx)).toBe(true);
});
