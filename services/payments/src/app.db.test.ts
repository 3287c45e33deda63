// A start that fails half-way gives everything back: a process that held its session for webhooks never came to its end.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '@libs/db';
import { connectionTo, createTestDatabase } from '@libs/db/testing';
import { createSealer } from '@libs/seal';
import { expect, test } from 'vitest';
import { createPayments } from './app.ts';
import { loadConfig } from './config.ts';
import { paymentsMigrations, SCHEMA } from './migrations.ts';
import { DELIVERY_SCHEMA } from './webhooks/rules.ts';

test('no connection is left to hear of jobs', async () => {
  const made = await createTestDatabase(paymentsMigrations());
  const dataDir = await mkdtemp(join(tmpdir(), 'payments-'));
  const opened = await openDatabase({ ...connectionTo(made.url), schema: SCHEMA });
  const database: Database = {
    ...opened,
    listen: (channel, ...rest) =>
      channel === `${SCHEMA}_jobs`
        ? Promise.reject(new Error('too many clients'))
        : opened.listen(channel, ...rest),
  };
  const payments = await createPayments({
    config: loadConfig({ PAYMENTS_LOG_LEVEL: 'silent', DATA_DIR: dataDir }),
    ...{ database, secrets: { sealer: createSealer({ keys: [Buffer.alloc(32, 7)] }), adminToken: 'admin' } },
    app: { defaultMetrics: false },
  });
  await expect(payments.startJobs()).rejects.toThrow('too many clients');
  await payments.close();
  await opened.close();
  const { rows } = await made.database.query(`select from ${DELIVERY_SCHEMA}.dispatchers`);
  expect(rows).toEqual([]);
  await made.drop();
  await rm(dataDir, { recursive: true, force: true });
});
