// While the server of some tenants is away, jobs of the others are done, and theirs when it is back: none is lost or done twice.
import type { Database } from '@libs/db';
import { enqueueJobs, type Handler, type Job, startWorker, type Worker } from '@libs/jobs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { PAYMENTS_TABLES } from '../../services/payments/src/spreading/tables.ts';
import { createNotes, cutCommit } from './cut-commits.ts';
import { createWiredDatabase, tenantOn, type WiredDatabase, type WiredServer } from './worker-wires.ts';

interface Payload {
  tenantId: string;
  note: string;
}

const JOB = 'notes.read';
const payloadOf = ({ payload }: Job) => payload as Payload;

let made: WiredDatabase;
let database: Database;
let away: WiredServer;
let awayTenant: string;
let thereTenant: string;
let worker: Worker;
/** Notes that were found, and those for which no row was seen. */
let read: string[] = [];
let missed: string[] = [];

const handler: Handler = {
  name: JOB,
  tenantsOf: (jobs) => jobs.map((job) => [payloadOf(job).tenantId]),
  async handle(jobs) {
    for (const { tenantId, note } of jobs.map(payloadOf)) {
      const { rowCount } = await database.query('select from notes where tenant_id = $1 and id = $2', [
        tenantId,
        note,
      ]);
      (rowCount === 1 ? read : missed).push(note);
    }
  },
};

beforeAll(async () => {
  made = await createWiredDatabase(paymentsMigrations(), PAYMENTS_TABLES);
  database = made.database;
  await createNotes(database);
  const [first, second] = made.servers as [WiredServer, WiredServer];
  away = first;
  [awayTenant, thereTenant] = [await tenantOn(database, first), await tenantOn(database, second)];
});
afterAll(() => made.drop());

beforeEach(async () => {
  [read, missed] = [[], []];
  worker = await startWorker({ database, handlers: [handler], now: () => new Date(), onError: () => {} });
});
afterEach(async () => {
  away.comeBack();
  await worker.drain();
});

async function write(tenantId: string, note: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('insert into notes values ($1, $2)', [tenantId, note]);
    await enqueueJobs(tx, database.schema, [{ name: JOB, payload: { tenantId, note } }]);
  });
}

/** For a tenant whose row is there since before: as a job that its server's absence finds waiting. */
const ask = (tenantId: string, note: string) =>
  enqueueJobs(database, database.schema, [{ name: JOB, payload: { tenantId, note } }]);

async function triesOfWaiting(): Promise<number[]> {
  const { rows } = await database.query<{ attempts: number }>('select attempts from jobs where name = $1', [
    JOB,
  ]);
  return rows.map(({ attempts }) => attempts);
}

test.each([
  ['stopped', () => away.stop()],
  ['stands still', () => away.freeze()],
])('a server that %s keeps the jobs of its own tenants alone', async (how, leave) => {
  await write(awayTenant, `${how} before`);
  await expect.poll(() => read).toEqual([`${how} before`]);
  leave();
  read = [];
  for (let round = 0; round < 3; round += 1) {
    await ask(awayTenant, `${how} before`);
    await write(thereTenant, `${how} ${round}`);
    await expect.poll(() => read, { timeout: 8_000 }).toContain(`${how} ${round}`);
  }
  // No try is used up by a job that could not have been done.
  expect(await triesOfWaiting()).toEqual([0, 0, 0]);
  expect(read.length).toBe(3);
  away.comeBack();
  await expect.poll(triesOfWaiting).toEqual([]);
  expect(read.slice(3)).toEqual(Array(3).fill(`${how} before`));
  expect(missed).toEqual([]);
});

test('a batch that is under way when its server stands still keeps no other from its turn', async () => {
  await write(awayTenant, 'under way');
  await write(thereTenant, 'meanwhile');
  await expect.poll(() => read.length).toBe(2);
  const held = Promise.withResolvers<void>();
  let isFirst = true;
  const hanging = await startWorker({
    ...{ database, now: () => new Date(), onError: () => {} },
    handlers: [
      {
        name: 'notes.hang',
        tenantsOf: (jobs) => jobs.map((job) => [payloadOf(job).tenantId]),
        async handle(jobs) {
          const { tenantId, note } = payloadOf(jobs[0] as Job);
          if (tenantId === awayTenant && isFirst) {
            isFirst = false;
            away.freeze();
            held.resolve();
          }
          await database.query('select from notes where tenant_id = $1', [tenantId]);
          read.push(`${note} again`);
        },
      },
    ],
  });
  const payload = (tenantId: string, note: string) => ({ name: 'notes.hang', payload: { tenantId, note } });
  await enqueueJobs(database, database.schema, [payload(awayTenant, 'under way')]);
  await held.promise;
  await enqueueJobs(database, database.schema, [payload(thereTenant, 'meanwhile')]);
  await expect.poll(() => read, { timeout: 8_000 }).toContain('meanwhile again');
  expect(read).not.toContain('under way again');
  away.comeBack();
  await expect.poll(() => read).toContain('under way again');
  await hanging.drain();
});

test('a job finds what a crash has cut off at its server, also while another one is away', async () => {
  away.stop();
  const payload = { tenantId: thereTenant, note: 'cut off' };
  await cutCommit(made, payload, (tx) => enqueueJobs(tx, database.schema, [{ name: JOB, payload }]));
  await expect.poll(() => [read, missed]).toEqual([['cut off'], []]);
});

test('a job with a key that fails while another server is away is tried again', async () => {
  const tries: number[] = [];
  const failing = await startWorker({
    ...{ database, now: () => new Date(), onError: () => {} },
    handlers: [
      {
        name: 'notes.fail',
        tenantsOf: (jobs) => jobs.map((job) => [payloadOf(job).tenantId]),
        async handle([job]) {
          tries.push(job?.attempt ?? 0);
          if (tries.length === 1) throw new Error('once');
        },
      },
    ],
  });
  away.stop();
  const payload = { tenantId: thereTenant, note: 'again' };
  await enqueueJobs(database, database.schema, [{ name: 'notes.fail', key: 'one', payload }]);
  await expect.poll(() => tries, { timeout: 5_000 }).toEqual([1, 2]);
  await failing.drain();
});
