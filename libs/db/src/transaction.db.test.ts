// What a transaction promises beyond SQL: work after its commit, one connection, and an end to every wait.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, isTransaction, openDatabase, SecondConnection } from './index.ts';
import { createTestDatabase, type TestDatabase } from './testing.ts';

let test_: TestDatabase;
let database: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  database = test_.database;
  await database.query('create table notes (id int primary key)');
});
afterAll(() => test_.drop());

async function opened(
  options: Partial<Parameters<typeof openDatabase>[0]>,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const own = await openDatabase({ url: test_.url, schema: 'public', ...options });
  try {
    await work(own);
  } finally {
    await own.close();
  }
}

describe('afterCommit', () => {
  test('runs once the rows are there for everybody, in the order in which it was asked for', async () => {
    const seen: string[] = [];
    const found = Promise.withResolvers<number>();
    await database.transaction(async (tx) => {
      tx.afterCommit(async () => {
        seen.push('first');
        found.resolve((await database.query('select 1 from notes where id = 1')).rowCount);
      });
      tx.afterCommit(() => void seen.push('second'));
      await tx.query('insert into notes values (1)');
      expect(seen).toEqual([]);
    });
    expect(seen).toEqual(['first', 'second']);
    expect(await found.promise).toBe(1);
  });

  test('never runs when the work throws, or when the commit itself fails', async () => {
    const seen: string[] = [];
    await database.query('create table strict (id int primary key deferrable initially deferred)');
    const thrown = database.transaction(async (tx) => {
      tx.afterCommit(() => void seen.push('thrown'));
      throw new Error('no');
    });
    await expect(thrown).rejects.toThrow('no');
    const refused = database.transaction(async (tx) => {
      tx.afterCommit(() => void seen.push('refused'));
      await tx.query('insert into strict values (1), (1)');
    });
    await expect(refused).rejects.toThrow(/duplicate key/);
    expect(seen).toEqual([]);
  });

  test('what it throws is reported, and neither the caller nor the next one hears of it', async () => {
    const reported: string[] = [];
    await opened({ onError: (error) => reported.push(error.message) }, async (own) => {
      const result = await own.transaction(async (tx) => {
        tx.afterCommit(() => {
          throw new Error('at once');
        });
        tx.afterCommit(() => Promise.reject(new Error('later')));
        return 'done';
      });
      expect(result).toBe('done');
      await expect.poll(() => reported).toEqual(['at once', 'later']);
    });
  });

  test('only a transaction has it', async () => {
    expect(isTransaction(database)).toBe(false);
    await database.transaction(async (tx) => expect(isTransaction(tx)).toBe(true));
    await database.session(async (session) => expect(isTransaction(session)).toBe(false));
  });
});

describe('one connection', () => {
  test('a second one inside a transaction is an error, however deep it is taken', async () => {
    const ways: ((inner: Database) => Promise<unknown>)[] = [
      (inner) => inner.query('select 1'),
      (inner) => inner.transaction(async () => {}),
      async (inner) => {
        await sleep(1);
        await Promise.all([inner.query('select 1')]);
      },
    ];
    for (const way of ways) {
      await expect(
        database.transaction(async (tx) => {
          await tx.query('select 1');
          await way(database);
        }),
      ).rejects.toThrow(SecondConnection);
    }
  });

  test('what a transaction leaves behind may take connections once it has ended', async () => {
    let late: Promise<unknown> | undefined;
    await database.transaction(async (tx) => {
      await tx.query('select 1');
      late = sleep(20).then(() => database.query('select 1'));
    });
    await late;
  });

  test('neither a transaction in another database nor a session is a second one', async () => {
    await opened({}, async (other) => {
      await database.transaction(() => other.query('select 1'));
    });
    await database.transaction(() => database.session((session) => session.query('select 1')));
    await database.session(() => database.transaction((tx) => tx.query('select 1')));
  });

  test('where it is only to be reported, it is reported and goes on', async () => {
    const reported: Error[] = [];
    await opened({ onSecondConnection: (error) => reported.push(error) }, async (own) => {
      await own.transaction(() => own.query('select 1'));
    });
    expect(reported).toEqual([expect.any(SecondConnection)]);
    expect(reported[0]?.stack).toContain('transaction.db.test.ts');
  });
});

describe('every wait ends', () => {
  test('a statement, and a transaction in which nothing happens', async () => {
    const timeouts = { statementMs: 100, idleInTransactionMs: 100 };
    await opened({ timeouts }, async (own) => {
      await expect(own.query('select pg_sleep(5)')).rejects.toMatchObject({ code: '57014' });
      const idle = own.transaction(async (tx) => {
        await sleep(300);
        await tx.query('select 1');
      });
      await expect(idle).rejects.toThrow();
    });
  });

  test('a pool that is empty, which a session does not make it', async () => {
    await opened({ timeouts: { connectMs: 1_000 }, connectionsMax: 1 }, async (own) => {
      const released = Promise.withResolvers<void>();
      const holding = own.session(() => released.promise);
      await own.query('select 1');
      released.resolve();
      await holding;
      const refused = Promise.withResolvers<void>();
      const taken = Promise.withResolvers<void>();
      const busy = own.transaction(async (tx) => {
        await tx.query('select 1');
        taken.resolve();
        await refused.promise;
      });
      await taken.promise;
      await expect(own.query('select 1')).rejects.toThrow(/timeout/);
      refused.resolve();
      await busy;
    });
  });

  test('a report has more time', async () => {
    await opened({ timeouts: { statementMs: 50, reportMs: 5_000 } }, async (own) => {
      await own.transaction((tx) => tx.query('select pg_sleep(0.2)'), { report: true });
      await expect(own.transaction((tx) => tx.query('select pg_sleep(0.2)'))).rejects.toThrow(/timeout/);
    });
  });
});
