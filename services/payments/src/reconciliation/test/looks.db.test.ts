// Which days a daily look takes, at what moment, and what becomes of a difference that shows on several of them.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addDays, fromNewYork } from '../../clock/new-york.ts';
import { createHouse, type House } from '../../rails/ach/test/house.ts';
import { reconcile } from '../comparison.ts';
import { daysStillChanging } from '../days.ts';
import { findDaysWithDifferences, saveSeenDifferences } from '../differences-store.ts';
import type { AnsweredQuery, Difference, RailBooks } from '../reconciliation.ts';
import { findUnfinishedDays } from '../store.ts';
import { booksOf, createDailyLook, differenceOf, morningOf } from './daily-look.ts';

const DAY = '2083-10-05';
const NEXT = '2083-10-06';
const OLD = '2083-06-01';

let house: House;
beforeAll(async () => {
  house = await createHouse();
  await house.startWorking();
});
afterAll(() => house.close());
beforeEach(() =>
  house.database.query('truncate reconciliation_differences, reconciliations, reconciliation_runs'),
);

const dailyWith = (books: RailBooks) => createDailyLook(house, [{ id: 'ach', books }]);

test('all that is compared of a day sees one moment, whatever is written meanwhile', async () => {
  const seen: { isolation: string; began: string }[] = [];
  const note = async (db: Parameters<RailBooks['totals']>[0]) => {
    const { rows } = await db.query<{ isolation: string; began: string }>(
      `select current_setting('transaction_isolation') as isolation, now()::text as began`,
    );
    seen.push(...rows);
  };
  const plain = booksOf(() => []);
  const books = booksOf(() => [], {
    totals: async (db, query) => note(db).then(() => plain.totals(db, query)),
    differences: async (db, query, limit) => note(db).then(() => plain.differences(db, query, limit)),
    isUnfinished: async (db, query) => note(db).then(() => plain.isUnfinished(db, query)),
  });
  const daily = dailyWith(books);
  await daily.reconciliation.reportsOf(DAY);
  // Both modes by one transaction.
  expect(seen).toHaveLength(4);
  expect(new Set(seen.map(({ began }) => began)).size).toBe(1);
  await daily.runAt(morningOf(NEXT));
  const days = seen.slice(4);
  for (let look = 0; look < days.length; look += 3)
    expect(new Set(days.slice(look, look + 3).map(({ began }) => began)).size).toBe(1);
  expect(new Set(seen.map(({ isolation }) => isolation))).toEqual(new Set(['repeatable read']));
});

test('an answer that was being written when the last look began is looked for by the next', async () => {
  const asked: AnsweredQuery[] = [];
  const daily = dailyWith(
    booksOf(() => [], {
      async answeredDays(_db, query) {
        if (query.mode === 'live') asked.push(query);
        return [];
      },
    }),
  );
  await daily.runAt(morningOf(DAY));
  await daily.runAt(morningOf(NEXT));
  expect(asked[1]?.since).toEqual(new Date(morningOf(DAY).getTime() - 3_600_000));
});

test('on an old day of test mode what is missing here was put away by a reset; in live mode it differs', async () => {
  const daily = dailyWith(
    booksOf(({ day }) => (day === OLD ? [differenceOf('gone')] : []), { answeredDays: async () => [OLD] }),
  );
  expect(await daily.runAt(morningOf(NEXT))).toEqual(['books differ']);
  expect(await daily.stored()).toMatchObject([{ mode: 'live', day: OLD }]);
});

test('a process that stops looks at no further day, and the look does not count as made', async () => {
  const stopping = new AbortController();
  let looks = 0;
  const daily = dailyWith(
    booksOf(() => {
      looks += 1;
      stopping.abort();
      return [];
    }),
  );
  await expect(daily.runAt(morningOf(NEXT), stopping.signal)).rejects.toThrow();
  expect(looks).toBe(1);
  const { rows } = await house.database.query('select rail from reconciliation_runs');
  expect(rows).toEqual([]);
});

test('books that cannot be read keep no others from being looked at', async () => {
  const broken = booksOf(() => {
    throw new Error('cannot be read');
  });
  const good = booksOf(({ day, mode }) => (day === DAY && mode === 'live' ? [differenceOf('a')] : []));
  const daily = createDailyLook(house, [
    { id: 'ach', books: broken },
    { id: 'rtp', books: good },
  ]);
  await expect(daily.runAt(morningOf(NEXT))).rejects.toThrow('2 parts of the job failed');
  expect(await daily.stored()).toMatchObject([{ rail: 'rtp', day: DAY }]);
});

test('more old days than one run looks at are told of', async () => {
  const answeredDays: RailBooks['answeredDays'] = async (_db, { mode, limit }) =>
    mode === 'live' ? Array.from({ length: limit }, (_, back) => addDays(OLD, -back)) : [];
  const books = booksOf(
    () => {
      throw new Error('looks at the first of them');
    },
    { answeredDays },
  );
  await expect(dailyWith(books).runAt(morningOf(NEXT))).rejects.toThrow();
  const line = 'more old days wait than one run looks at';
  expect(house.alerts).toMatchObject([{ fields: { alert: 'books_differ', mode: 'live' }, message: line }]);
});

test('what shows on two days is one difference, of the earlier, with what the sides say now', async () => {
  let theirs = '1';
  let days = [DAY];
  const daily = dailyWith(
    booksOf(({ day, mode }) =>
      mode === 'live' && days.includes(day) ? [{ ...differenceOf('a'), theirs }] : [],
    ),
  );
  expect(await daily.runAt(morningOf(NEXT))).toEqual(['books differ']);
  theirs = '2';
  days = [DAY, NEXT];
  expect(await daily.runAt(morningOf('2083-10-07'))).toEqual(['books still differ']);
  expect(await daily.stored()).toMatchObject([{ day: DAY, theirs: '2', resolvedAt: null }]);
});

test('one that comes again on another day stands there, for as long as that shows it', async () => {
  let shownOn: string | null = OLD;
  const daily = dailyWith(
    booksOf(({ day, mode }) => (mode === 'live' && day === shownOn ? [differenceOf('a')] : []), {
      answeredDays: async () => [OLD],
    }),
  );
  await daily.runAt(morningOf(DAY));
  shownOn = null;
  await daily.runAt(morningOf(NEXT));
  shownOn = DAY;
  expect(await daily.runAt(morningOf('2083-10-07'))).toContain('books differ');
  expect(await daily.runAt(morningOf('2083-10-08'))).toEqual(['books still differ']);
  expect(await daily.stored()).toMatchObject([{ day: DAY, resolvedAt: null }]);
});

test('a day whose outcomes are still to come is looked at until they are there, and its report is kept as long', async () => {
  let isUnfinished = true;
  let looks = 0;
  const books = booksOf(
    ({ day, mode }) => {
      if (day === DAY && mode === 'live') looks += 1;
      return [];
    },
    { isUnfinished: async (_db, { day, mode }) => isUnfinished && day === DAY && mode === 'live' },
  );
  const daily = dailyWith(books);
  const reports = async () => {
    const { rows } = await house.database.query<{ day: string }>(
      `select day from reconciliations where mode = 'live' and day = $1`,
      [DAY],
    );
    return rows.length;
  };
  await daily.runAt(morningOf(NEXT));
  const late = morningOf(addDays(DAY, 500));
  await daily.sweepAt(late);
  expect(await reports()).toBe(1);
  isUnfinished = false;
  await daily.runAt(late);
  await daily.runAt(late);
  expect(looks).toBe(2);
  await daily.sweepAt(late);
  expect(await reports()).toBe(0);
});

test('of too many old days those come first that were not looked at for longest', async () => {
  const { database } = house;
  const [early, later] = [new Date('2083-07-01T11:00:00Z'), new Date('2083-07-02T11:00:00Z')];
  const see = (day: string, at: Date, differences: readonly Difference[], mode: 'live' | 'test' = 'live') =>
    saveSeenDifferences(database, {
      ...{ rail: 'ach', mode, day, at, differences, newId: () => house.context.newId('rdf') },
    });
  await see('2083-01-01', later, [differenceOf('a')]);
  await see('2083-02-01', early, [differenceOf('b')]);
  await see('2083-03-01', later, [differenceOf('c')]);
  await see('2083-04-01', new Date(0), [differenceOf('d')], 'test');
  const asked = { rail: 'ach', mode: 'live', before: OLD, limit: 1 } as const;
  expect(await findDaysWithDifferences(database, asked)).toEqual(['2083-02-01']);
  const unfinished: readonly string[] = ['2083-09-01', '2083-09-02'];
  const books = booksOf(() => [], {
    isUnfinished: async (_db, { day }) => unfinished.includes(day),
    answeredDays: async (_db, { since }) => (since > morningOf(OLD) ? ['2083-09-01'] : []),
  });
  // Both are found, and then the earlier one is looked at alone.
  await dailyWith(books).runAt(morningOf('2083-09-04'));
  await database.query(`update reconciliations set unfinished = false where day = '2083-09-02'`);
  await dailyWith(books).runAt(morningOf('2083-10-20'));
  await database.query(`update reconciliations set unfinished = true where day = '2083-09-02'`);
  expect(await findUnfinishedDays(database, { ...asked, before: DAY })).toEqual(['2083-09-02']);
});

test('what the ledger posted at midnight belongs to the day that begins', async () => {
  const tenant = await house.addTenant('org_midnight');
  await house.moveClock(tenant, fromNewYork(DAY, '00:00'));
  const [from, to] = [await house.openBalance(tenant, 5_00), await house.openBalance(tenant, 1)];
  await house.pay(tenant, { sourceId: from, destinationId: to, amount: 3_00, rail: 'auto' });
  await house.idle();
  const postedOn = async (day: string) => {
    const rail = { id: 'book', books: booksOf(() => []) } as const;
    return (await reconcile(house.database, { day, rail, mode: 'test' })).ledger.posted;
  };
  expect(await postedOn(DAY)).toEqual({ count: 1, amount: 3_00 });
  expect(await postedOn(addDays(DAY, -1))).toEqual({ count: 0, amount: 0 });
});

test('after weeks in which the books could not be read, every day since the last look is compared', async () => {
  let looked: string[] = [];
  let isReadable = true;
  const daily = dailyWith(
    booksOf(({ day, mode }) => {
      if (!isReadable) throw new Error('the books cannot be read');
      if (mode === 'live') looked.push(day);
      return mode === 'live' && day === '2083-10-08' ? [differenceOf('in between')] : [];
    }),
  );
  await daily.runAt(morningOf(NEXT));
  isReadable = false;
  await expect(daily.runAt(morningOf('2083-10-07'))).rejects.toThrow('parts of the job failed');
  isReadable = true;
  looked = [];
  expect(await daily.runAt(morningOf('2083-10-29'))).toContain('books differ');
  expect(await daily.stored()).toMatchObject([{ mode: 'live', day: '2083-10-08', reference: 'in between' }]);
  const since = Array.from({ length: 24 }, (_, index) => addDays(DAY, index));
  expect([...new Set(looked)].sort()).toEqual(since);
  looked = [];
  await daily.runAt(morningOf('2083-10-30'));
  expect(looked).not.toContain('2083-10-10');
});

test('after years without a look no more than 400 days beside the last ones are compared, and the log says so', async () => {
  const looked = new Set<string>();
  const daily = dailyWith(
    booksOf(({ day, mode }) => {
      if (mode === 'live') looked.add(day);
      return [];
    }),
  );
  await daily.runAt(morningOf(NEXT));
  looked.clear();
  expect(await daily.runAt(morningOf('2085-10-05'))).toContain('more old days wait than one run looks at');
  const count = 400 + daysStillChanging('2085-10-05').length;
  const newest = Array.from({ length: count }, (_, back) => addDays('2085-10-04', -back));
  expect([...looked].sort()).toEqual(newest.reverse());
});
