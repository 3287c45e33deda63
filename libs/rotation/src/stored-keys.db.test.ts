import type { Database, Queryable } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createSealer, SealError } from '@libs/seal';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  checkStoredKeys,
  describeMissingKeys,
  describeUnseenKeys,
  resealEverything,
  sealedColumn,
} from './index.ts';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const old = createSealer({ keys: [OLD] });
const fresh = createSealer({ keys: [NEW] });
const [OLD_ID] = old.keyIds;
const [NEW_ID] = fresh.keyIds;
const ROWS_PER_PAGE = 3;

let testDatabase: TestDatabase;
let database: Database;

const columnOf = (table: string) =>
  sealedColumn({
    ...{ table, column: 'text_sealed', rowsPerPage: ROWS_PER_PAGE },
    key: { tenant_id: 'text', id: 'text' },
    contextOf: (row) => `${table} ${row.tenant_id} ${row.id}`,
  });
const columns = [columnOf('letters'), columnOf('cards')];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
  for (const table of ['letters', 'cards'])
    await database.query(
      `create table ${table} (tenant_id text collate "C", id text collate "C", text_sealed bytea, primary key (tenant_id, id))`,
    );
});
beforeEach(() => database.query('truncate letters, cards'));
afterAll(() => testDatabase.drop());

async function add(table: string, id: string, sealer = old): Promise<void> {
  await database.query(`insert into ${table} values ('org', $1, $2)`, [
    id,
    sealer.seal('text', `${table} org ${id}`),
  ]);
}

const check = (
  keys: readonly Buffer[],
  lostKeyIds: readonly string[] = [],
  refusesWrongKeys = true,
  db: Queryable = database,
  onNotSeen: (error: unknown) => void = () => expect.fail('it could look'),
) =>
  checkStoredKeys({
    ...{ database: db, columns, lostKeyIds, refusesWrongKeys, onNotSeen, sealer: createSealer({ keys }) },
    ...{ keyVariable: 'THE_KEYS', keyFile: 'the-file', lostVariable: 'THE_LOST' },
  });

test('where nothing is stored every key is right', async () => {
  expect(await check([NEW])).toEqual([]);
  await database.query(`insert into letters values ('org', 'a', null)`);
  expect(await check([NEW])).toEqual([]);
});

test('keys that open nothing are refused with what to do, and no word of a key', async () => {
  await add('cards', 'a');
  const refusal = await check([NEW]).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(SealError);
  const { message } = refusal as SealError;
  expect(message).toMatch(/^THE_KEYS opens nothing of what is stored: /);
  for (const part of [OLD_ID, NEW_ID, 'the-file', `THE_LOST=${OLD_ID} `]) expect(message).toContain(part);
  for (const key of [OLD, NEW]) expect(message).not.toContain(key.toString('base64'));
  expect(message).not.toContain('\n');
});

test('where wrong keys are only told of, what they do not open is named', async () => {
  await add('cards', 'a');
  expect(await check([NEW], [], false)).toEqual([OLD_ID]);
});

test('the right key is taken anywhere in the list, and a damaged value stops nobody', async () => {
  await add('letters', 'a');
  await database.query(
    'update letters set text_sealed = set_byte(text_sealed, 20, 1 + get_byte(text_sealed, 20) % 255)',
  );
  for (const keys of [[OLD], [OLD, NEW], [NEW, OLD]]) expect(await check(keys)).toEqual([]);
});

test.each([
  ['end', 'z'],
  ['beginning', 'a'],
])(
  'a key that was dropped while values need it is named, also where only the %s of a long table does',
  async (_end, id) => {
    for (let n = 0; n < 3 * ROWS_PER_PAGE; n += 1) await add('letters', `b${n}`, fresh);
    await add('letters', id);
    const missing = await check([NEW]);
    expect(missing).toEqual([OLD_ID]);
    expect(describeMissingKeys(missing, 'THE_KEYS')).toContain(
      `sealed with key ${OLD_ID}, which is not in THE_KEYS`,
    );
  },
);

test('after the rotation the new key is enough and the old one alone is refused', async () => {
  for (const id of ['a', 'b', 'c', 'd', 'e']) await add('letters', id);
  const sealer = createSealer({ keys: [NEW, OLD] });
  expect(await resealEverything({ database, sealer, columns, lostKeyIds: [] })).toMatchObject({
    clean: true,
  });
  expect(await check([NEW])).toEqual([]);
  await expect(check([OLD])).rejects.toThrow('opens nothing');
});

test('a key that was given up stops nothing, and another one still does', async () => {
  await add('letters', 'a');
  expect(await check([NEW], [OLD_ID])).toEqual([]);
  await add('cards', 'a', createSealer({ keys: [Buffer.alloc(32, 3)] }));
  await expect(check([NEW], [OLD_ID])).rejects.toThrow('opens nothing');
});

test.each([
  ['is away', '08006', 'connection to the remote node tests@away:5432 failed'],
  ['stands still', '57014', 'canceling statement due to statement timeout'],
])(
  'where tables are spread, the server of some tenants that %s stops no start, which says that it could not look',
  async (_how, code, said) => {
    await add('letters', 'a');
    const without = (isSpread: boolean): Queryable => ({
      isSpread,
      query: (statement, values) =>
        String(statement).includes('from cards')
          ? Promise.reject(Object.assign(new Error(said), { code }))
          : database.query(statement, values),
    });
    const told: unknown[] = [];
    expect(await check([NEW], [], true, without(true), (error) => told.push(error))).toEqual([]);
    expect(told).toMatchObject([{ message: said }]);
    expect(describeUnseenKeys('THE_KEYS')).toContain('nobody looked whether THE_KEYS opens it');
    await expect(check([NEW], [], true, without(false))).rejects.toThrow(said);
  },
);
