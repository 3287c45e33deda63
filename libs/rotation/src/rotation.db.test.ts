import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { type Job, jobsMigrations, startWorker } from '@libs/jobs';
import { createSealer, type Sealer } from '@libs/seal';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  createRotationJob,
  describeTally,
  type RotationTally,
  resealEverything,
  type SealedColumn,
  sealedColumn,
} from './index.ts';
import { resealPage } from './rotation.ts';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const old = createSealer({ keys: [OLD] });
const both = createSealer({ keys: [NEW, OLD] });
const fresh = createSealer({ keys: [NEW] });

let testDatabase: TestDatabase;
let database: Database;

const letters = sealedColumn({
  table: 'letters',
  column: 'text_sealed',
  key: { tenant_id: 'text', hash: 'bytea' },
  rowsPerPage: 7,
  contextOf: (row) => `letter ${row.tenant_id} ${row.hash.toString('hex')}`,
});

const accounts = (sealer: Sealer): SealedColumn =>
  sealedColumn({
    table: 'accounts',
    column: 'number_sealed',
    key: { id: 'text' },
    rowsPerPage: 3,
    contextOf: (row) => `account ${row.id}`,
    mark: {
      column: 'mark',
      needs: ['bank'],
      of: (number, row) => sealer.fingerprint(`${row.bank} ${number}`, 'mark'),
    },
  });

const rotation = (sealer = both) => ({
  ...{ database, sealer, columns: [letters, accounts(sealer)] },
  lostKeyIds: [] as string[],
});

beforeAll(async () => {
  testDatabase = await createTestDatabase({ schema: 'public', series: [jobsMigrations] });
  database = testDatabase.database;
  await database.query(`create table letters (tenant_id text collate "C", hash bytea, text_sealed bytea,
      touched int not null default 0, primary key (tenant_id, hash));
    create table accounts (id text collate "C" primary key, bank text, number_sealed bytea not null, mark text not null)`);
});
beforeEach(() => database.query('truncate letters, accounts, jobs'));
afterAll(() => testDatabase.drop());

const contextOf = (tenant: string, hash: Buffer) => `letter ${tenant} ${hash.toString('hex')}`;

async function addLetters(count: number, sealer = old): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const tenant = `org_${n % 3}`;
    const hash = Buffer.from([n >> 8, n & 255, 0xff]);
    const sealed = n % 5 === 4 ? null : sealer.seal(`letter ${n}`, contextOf(tenant, hash));
    await database.query('insert into letters (tenant_id, hash, text_sealed) values ($1, $2, $3)', [
      tenant,
      hash,
      sealed,
    ]);
  }
}

async function readLetters(sealer = fresh): Promise<string[]> {
  const { rows } = await database.query<{ tenant_id: string; hash: Buffer; text_sealed: Buffer }>(
    'select * from letters where text_sealed is not null order by hash',
  );
  return rows.map((row) => sealer.openText(row.text_sealed, contextOf(row.tenant_id, row.hash)));
}

async function addAccount(id: string, number: string, sealer: Sealer, marker = sealer): Promise<void> {
  await database.query('insert into accounts values ($1, $2, $3, $4)', [
    id,
    '021000021',
    sealer.seal(number, `account ${id}`),
    marker.fingerprint(`021000021 ${number}`, 'mark'),
  ]);
}

test('everything comes under the newest key, page by page, and opens with it alone', async () => {
  await addLetters(100);
  const passes: RotationTally[] = [];
  const { clean, tally } = await resealEverything(rotation(), (pass) => passes.push(pass));
  expect([clean, passes.length]).toEqual([true, 2]);
  expect(passes[0]).toEqual({ underKey: { [old.keyIds[0]]: 80 }, resealed: 80, unreadable: 0 });
  expect(tally).toEqual({ underKey: { [both.keyIds[0]]: 80 }, resealed: 0, unreadable: 0 });
  expect(await readLetters()).toHaveLength(80);
  expect(describeTally(both, tally, 'THE_KEYS')).toBe(
    `80 under key ${both.keyIds[0]} (newest): the keys behind the first may be removed from THE_KEYS`,
  );
  expect(describeTally(both, passes[0] as RotationTally, 'THE_KEYS')).toMatch(
    /^80 under key \w{8} \(number 2\), 80 sealed anew: keep every key in THE_KEYS until a pass finds nothing to do$/,
  );
});

test('a pass that made marks alone anew is followed by one that looks whether it was enough', async () => {
  await addAccount('a', '111', both, old);
  const passes: number[] = [];
  await resealEverything(rotation(), ({ resealed }) => passes.push(resealed));
  expect(passes).toEqual([1, 0]);
});

test('a value of another row under the newest key is told of, and no key may go while it is there', async () => {
  await addAccount('a', '111', both);
  await addAccount('b', '222', both);
  await database.query(
    `update accounts set number_sealed = (select number_sealed from accounts where id = 'a')`,
  );
  const { clean, tally } = await resealEverything(rotation());
  expect([clean, tally.unreadable]).toEqual([false, 1]);
  expect(describeTally(both, tally, 'THE_KEYS')).toMatch(
    /1 of them cannot be opened: keep every key in THE_KEYS$/,
  );
});

test('a fault that is no fault of a value ends the pass', async () => {
  await addLetters(1);
  const open = () => {
    throw new TypeError('a mistake in the code');
  };
  await expect(resealEverything({ ...rotation(), sealer: { ...both, open } })).rejects.toThrow(TypeError);
});

test('marks are made anew, also those of values that are under the newest key already', async () => {
  await addAccount('a', '111', old);
  // Added while keys rotate: sealed with the newest key, known by the mark of an older one.
  await addAccount('b', '111', both, old);
  await addAccount('c', '222', both);
  const { clean, tally } = await resealEverything(rotation());
  expect([clean, tally.underKey]).toEqual([true, { [both.keyIds[0]]: 3 }]);
  const { rows } = await database.query<{ mark: string }>('select mark from accounts order by id');
  const mark = (number: string) => fresh.fingerprint(`021000021 ${number}`, 'mark');
  expect(rows.map((row) => row.mark)).toEqual([mark('111'), mark('111'), mark('222')]);
});

test('whoever changes a value meanwhile wins', async () => {
  await addLetters(1);
  const hash = Buffer.from([0, 0, 0xff]);
  const theirs = both.seal('theirs', contextOf('org_0', hash));
  const meddling = {
    ...rotation(),
    database: {
      async query(statement: string, values?: readonly unknown[]) {
        if (statement.startsWith('update letters'))
          await database.query('update letters set text_sealed = $1', [theirs]);
        return database.query(statement, values);
      },
    } as Database,
  };
  expect((await resealEverything(meddling)).clean).toBe(true);
  expect(await readLetters()).toEqual(['theirs']);
});

test('a value that cannot be opened stays, is counted, and holds up no other', async () => {
  await addLetters(10);
  await database.query(`update letters set text_sealed = set_byte(text_sealed, 20, 1 + get_byte(text_sealed, 20) % 255)
    where hash = '\\x0000ff'`);
  const lost = createSealer({ keys: [Buffer.alloc(32, 9)] });
  await addAccount('lost', '1', lost);
  const { clean, tally } = await resealEverything(rotation());
  expect(clean).toBe(false);
  expect(tally).toEqual({
    underKey: { [both.keyIds[0]]: 7, [old.keyIds[0]]: 1, [lost.keyIds[0]]: 1 },
    resealed: 0,
    unreadable: 2,
  });
  expect(describeTally(both, tally, 'K')).toMatch(/, 2 of them cannot be opened: keep every key in K$/);
});

test('what a lost key sealed keeps no other key', async () => {
  await addLetters(10);
  const lost = createSealer({ keys: [Buffer.alloc(32, 9)] });
  await addAccount('lost', '1', lost);
  const { clean, tally } = await resealEverything({ ...rotation(), lostKeyIds: lost.keyIds });
  expect([clean, tally.underKey]).toEqual([true, { [both.keyIds[0]]: 8 }]);
});

test('with one key there is nothing to do', async () => {
  await addLetters(3, fresh);
  const { clean, tally } = await resealEverything(rotation(fresh));
  expect(clean).toBe(true);
  expect(describeTally(fresh, tally, 'K')).toMatch(/: one key, nothing to do$/);
});

test('the job goes on where it got to, over several processes, and tells the end of each pass', async () => {
  await addLetters(1000);
  const passes: RotationTally[] = [];
  const makeJob = (sealer: Sealer) =>
    createRotationJob({
      ...rotation(sealer),
      database,
      now: () => new Date(),
      onPass: (tally) => passes.push(tally),
    });
  const errors: unknown[] = [];
  const begin = async () => {
    const job = makeJob(both);
    return startWorker({
      database,
      handlers: job.handlers,
      cron: job.cron,
      now: () => new Date(),
      onError: (error) => errors.push(error),
    });
  };
  await makeJob(fresh).background.start();
  expect((await database.query('select 1 from jobs')).rows).toEqual([]);
  await makeJob(both).background.start();
  let worker = await begin();
  const resealed = async () =>
    Number(
      (
        await database.query<{ n: number }>(
          `select count(*) as n from letters where encode(substring(text_sealed from 2 for 4), 'hex') = $1`,
          [both.keyIds[0]],
        )
      ).rows[0]?.n,
    );
  await expect.poll(resealed, { interval: 5 }).toBeGreaterThan(0);
  // Stopped half-way: the next process goes on from the page after the last.
  await worker.drain();
  expect(passes).toEqual([]);
  const { rows } = await database.query<{ payload: { tally: { resealed: number } } }>(
    `select payload from jobs where key = 'continue'`,
  );
  expect(rows[0]?.payload.tally.resealed).toBe(await resealed());
  worker = await begin();
  await expect.poll(() => passes.length).toBe(1);
  expect(passes[0]).toEqual({ underKey: { [old.keyIds[0]]: 800 }, resealed: 800, unreadable: 0 });
  // The first pass changed something, so another one looks whether it was enough.
  const { rows: waiting } = await database.query(
    `select payload, ready_at > now() + interval '9 minutes' as later from jobs where key = 'continue'`,
  );
  expect(waiting).toEqual([{ payload: {}, later: true }]);
  await makeJob(both).background.start();
  await expect.poll(() => passes.length).toBe(2);
  expect(passes[1]).toEqual({ underKey: { [both.keyIds[0]]: 800 }, resealed: 0, unreadable: 0 });
  await worker.drain();
  expect(errors).toEqual([]);
  expect((await database.query(`select key from jobs`)).rows).toEqual([{ key: 'cron' }]);
});

test('a pass that another version began goes on by the name of its column, or begins anew', async () => {
  await addLetters(10);
  await addAccount('a', '111', old);
  const { columns, ...rest } = rotation();
  const tally = { underKey: {}, resealed: 0, unreadable: 0 };
  const last = columns.at(-1);
  const place = { column: `${last?.table}.${last?.column}`, after: null };
  // There it was the first of its list, here it is the last: what stands before it was seen.
  const named = await resealPage({ ...rest, columns }, { place, tally });
  expect(named).toMatchObject({ place: null, tally: { resealed: 1 } });
  const gone = await resealPage({ ...rest, columns }, { place: { ...place, column: 'gone.sealed' }, tally });
  expect(gone).toMatchObject({ place: { column: 'letters.text_sealed' } });
});

test('a job of the version before, which counted columns, begins anew', async () => {
  await addLetters(10);
  await addAccount('a', '111', old);
  const passes: RotationTally[] = [];
  const [handler] = createRotationJob({
    ...rotation(both),
    database,
    now: () => new Date(),
    onPass: (tally) => passes.push(tally),
  }).handlers;
  const { rows } = await database.query<Job>(
    `insert into jobs (name, payload, key, ready_at, attempts) values ('keys.reseal', $1, 'continue', now(), 1)
     returning id, name, payload, key, attempts as attempt`,
    [
      JSON.stringify({
        place: { column: 1, after: null },
        tally: { underKey: {}, resealed: 0, unreadable: 0 },
      }),
    ],
  );
  await handler?.handle(rows, { signal: new AbortController().signal });
  expect(passes).toMatchObject([{ resealed: 9 }]);
});

test('the daily look outlives a process that dies after its work, before the next one is planted', async () => {
  const [handler] = createRotationJob({
    ...rotation(both),
    ...{ database, now: () => new Date(), onPass: () => {} },
  }).handlers;
  const { rows } = await database.query<Job>(
    `insert into jobs (name, payload, key, ready_at, attempts) values ('keys.reseal', '{}', 'cron', now(), 1)
     returning id, name, payload, key, attempts as attempt`,
  );
  await handler?.handle(rows, { signal: new AbortController().signal });
  expect((await database.query(`select key from jobs where key = 'cron'`)).rows).toEqual([{ key: 'cron' }]);
});
