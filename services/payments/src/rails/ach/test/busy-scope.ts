import { expect } from 'vitest';
import type { AchScope } from '../entries/scope.ts';
import { lockScope } from '../outgoing/files-store.ts';
import type { House } from './house.ts';

/** Starts work while another transaction works on its scope, which goes on until the work is seen to wait for it. */
export async function whileScopeIsBusy<T>(
  { database }: House,
  scope: AchScope,
  work: () => Promise<T>,
): Promise<T> {
  const [locked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const working = database.transaction(async (tx) => {
    await lockScope(tx, scope);
    locked.resolve();
    await free.promise;
  });
  await locked.promise;
  const done = work();
  const waiting = async () => {
    const { rows } = await database.query<{ n: number }>(
      `select count(*)::int as n from pg_locks join pg_database on pg_database.oid = database
       where datname = current_database() and locktype = 'advisory' and not granted`,
    );
    return rows[0]?.n;
  };
  try {
    await expect.poll(waiting, { interval: 10 }).toBe(1);
  } finally {
    free.resolve();
    await working;
  }
  return done;
}
