// After a restore of Payments the books agree, and nothing is missing that was answered before the target.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedService, startLogged } from '../logs/process.ts';
import { type ArchivedServer, startArchivedServer } from './archived-server.ts';
import { callPayments, fateOf, PAYMENTS_ENV, sendPayment } from './payments-load.ts';
import { destroyUnderLoad } from './restored-load.ts';

let server: ArchivedServer;

beforeAll(async () => {
  server = await startArchivedServer('services/payments/docs/backups.md');
});
afterAll(() => server.remove());

function startPayments(databaseUrl: string): Promise<LoggedService> {
  return startLogged('payments', {
    ...PAYMENTS_ENV,
    PAYMENTS_DATABASE_URL: databaseUrl,
    PAYMENTS_ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
    DATA_DIR: server.dataDir,
  });
}

test('destroyed, and restored to a second before', { timeout: 180_000 }, async () => {
  const payments = await startPayments(server.url);
  const { url, database, before, after } = await destroyUnderLoad(server, payments, sendPayment);
  const again = await startPayments(url);
  expect(await callPayments(again.url, 'GET', '/v1/ledger/check')).toMatchObject({
    status: 200,
    body: { ok: true },
  });
  expect((await fateOf(database, before)).present).toBe(before.length);
  // It really went back: what came later is not there.
  expect((await fateOf(database, after)).present).toBe(0);
  // What was under way goes on.
  await expect
    .poll(async () => (await fateOf(database, before)).completed, { timeout: 60_000, interval: 250 })
    .toBe(before.length);
  expect(await callPayments(again.url, 'GET', '/v1/ledger/check')).toMatchObject({ body: { ok: true } });
  await again.stop();
  console.log(
    `restore of Payments: ${before.length} payments answered before the target are there, ${after.length} of the second after it are not, the books agree`,
  );
});
