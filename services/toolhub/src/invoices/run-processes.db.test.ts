// The monthly run in processes of their own, which are killed: what is left is one invoice and one mail for each customer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrationSource } from '../schema.ts';
import { addCustomer } from './test/rig.ts';

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase(migrationSource);
});
afterAll(() => testDatabase.drop());

async function rows<Row extends object>(text: string): Promise<Row[]> {
  return (await testDatabase.database.query<Row>(text)).rows;
}

/** `npm run faults` takes a thousand; the short form keeps `npm test` short. */
const CUSTOMERS = Number(process.env.FAULTS_CUSTOMERS ?? 150);

test('[TH-7.9] two processes at once, both killed half-way: one invoice and one mail each, no gap, to the cent', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolhub-mails-'));
  const expected = new Map<string, number>();
  const addOne = async (index: number) => {
    const plan = (['free', 'starter', 'scale'] as const)[index % 3] ?? 'free';
    const calls = plan === 'free' ? index : index * 7_919;
    const usage = calls === 0 ? [] : [{ day: '2026-10-15', platform: 'email', calls }];
    const id = await addCustomer(testDatabase.database, { plan, calls: usage });
    const beyond = Math.max(calls - (plan === 'scale' ? 1_000_000 : 50_000), 0);
    const cents = {
      free: 0,
      starter: 2_900 + Math.round(beyond * 0.06),
      scale: 22_900 + Math.round(beyond / 40),
    };
    expected.set(id, cents[plan]);
  };
  await Promise.all(Array.from({ length: CUSTOMERS }, (_, index) => addOne(index)));
  const script = fileURLToPath(new URL('./test/run-process.ts', import.meta.url));
  const start = () => {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', script, testDatabase.url, folder],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    return { child, exited: once(child, 'exit'), ready: once(child.stdout, 'data') };
  };
  const countInvoices = async () => (await rows('select 1 from invoices')).length;
  const countMails = async () => (await readdir(folder)).filter((name) => name.endsWith('.eml')).length;

  /** Kills the one that works, and leaves the other to take over. */
  const killHolder = async (processes: readonly ReturnType<typeof start>[]) => {
    const [lock] = await rows<{ holder: string }>('select holder from job_locks');
    const holder = processes.find(({ child }) => lock?.holder.endsWith(`:${child.pid}`));
    holder?.child.kill('SIGKILL');
    expect(await holder?.exited).toEqual([null, 'SIGKILL']);
    return processes.filter((candidate) => candidate !== holder);
  };

  const two = [start(), start()];
  await Promise.all(two.map(({ ready }) => ready));
  await expect.poll(countInvoices, { interval: 5 }).toBeGreaterThan(CUSTOMERS / 3);
  const left = await killHolder(two);
  await expect.poll(countMails, { timeout: 60_000, interval: 10 }).toBeGreaterThan(CUSTOMERS / 3);
  expect(await killHolder(left)).toEqual([]);
  expect(await countMails()).toBeLessThan(CUSTOMERS);
  const third = start();
  expect(await third.exited).toEqual([0, null]);

  const invoices = await rows<{
    customer_id: string;
    id: string;
    number: number;
    total_cents: number;
    mail_state: string;
  }>('select * from invoices order by number');
  expect(invoices.map(({ number }) => number)).toEqual(
    Array.from({ length: CUSTOMERS }, (_, index) => index + 1),
  );
  expect(new Map(invoices.map((invoice) => [invoice.customer_id, invoice.total_cents]))).toEqual(expected);
  expect(new Set(invoices.map(({ mail_state: state }) => state))).toEqual(new Set(['sent']));
  const files = (await readdir(folder)).filter((name) => name.endsWith('.eml')).sort();
  expect(files).toEqual(invoices.map(({ id }) => `${id}.eml`).sort());
  expect(await rows(`select customer_id from events where type = 'invoice.created'`)).toHaveLength(CUSTOMERS);
  expect(await rows('select 1 from job_locks')).toEqual([]);
  await rm(folder, { recursive: true, force: true });
}, 180_000);
