import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { enqueueJobs, type Job, jobsMigrations, startWorker, type Worker } from '../src/index.ts';

/** An empty queue, a table for what jobs do, and workers that end with it. */
export interface Trial {
  testDatabase: TestDatabase;
  database: Database;
  workers: Worker[];
  /** What the workers reported. */
  errors: unknown[];
  work(handle: (jobs: readonly Job[]) => Promise<void>, more?: object, options?: object): Promise<Worker>;
  add(...payloads: unknown[]): Promise<void>;
  /** How many jobs wait or are under way. */
  waiting(): Promise<number>;
  close(): Promise<void>;
}

export async function openTrial(): Promise<Trial> {
  const testDatabase = await createTestDatabase({ schema: 'public', series: [jobsMigrations] });
  const { database } = testDatabase;
  const workers: Worker[] = [];
  const errors: unknown[] = [];
  await database.query('create table effects (value int)');

  return {
    testDatabase,
    database,
    workers,
    errors,

    async work(handle, more = {}, options = {}) {
      const worker = await startWorker({
        database,
        handlers: [{ name: 'task', handle, ...more }],
        now: () => new Date(),
        onError: (error) => errors.push(error),
        ...options,
      });
      workers.push(worker);
      return worker;
    },

    add: (...payloads) =>
      enqueueJobs(
        database,
        'public',
        payloads.map((payload) => ({ name: 'task', payload })),
      ),

    async waiting() {
      const { rows } = await database.query<{ n: number }>(
        'select count(*)::int as n from jobs where failed_at is null',
      );
      return rows[0]?.n ?? 0;
    },

    async close() {
      await Promise.all(workers.map((worker) => worker.drain()));
      await testDatabase.drop();
    },
  };
}
