// A rolling upgrade: processes of the version before under load, new ones beside them, the old ones drained one by one.
// No request may fail and nothing may be lost. `npm run upgrade [commit]` does it with more load, and from any commit.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LoggedService, startLogged } from '../logs/process.ts';
import { checkOut, type EarlierRelease, earlierCommit } from './earlier-release.ts';
import { callPayments, fateOf, startLoad } from './load.ts';

const STEP_MS = Number(process.env.UPGRADE_STEP_MS ?? 700);
const TAKEN_OUT_MS = 100;
const CLIENTS = 4;
const PAUSE_MS = process.env.UPGRADE_STEP_MS === undefined ? 25 : 0;
const OLD_PROCESSES = Number(process.env.UPGRADE_PROCESSES ?? 1);

const commit = earlierCommit();

/** Processes from before messages were packed, or packed so, leave those of newer ones to them, with a line for each. */
const LEFT_TO_NEWER = /a message is (kept in one way or the other|packed in a form that is known)/;

const unexpectedErrors = (log: string): string[] =>
  log.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line) && !LEFT_TO_NEWER.test(line));

describe.runIf(commit !== undefined)('a rolling upgrade', () => {
  let database: TestDatabase;
  let earlier: EarlierRelease;
  let dataDir: string;
  const started: LoggedService[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    earlier = await checkOut(commit as string);
    dataDir = await mkdtemp(join(tmpdir(), 'upgrade-'));
  });
  afterAll(async () => {
    // Whatever failed, nothing runs on.
    await Promise.all(started.map((service) => service.kill()));
    await database.drop();
    await earlier.remove();
    await rm(dataDir, { recursive: true, force: true });
  });

  const start = async (folder?: string): Promise<LoggedService> => {
    const service = await startLogged(
      'payments',
      {
        PAYMENTS_DATABASE_URL: database.url,
        PAYMENTS_ENCRYPTION_KEY: Buffer.alloc(32, 6).toString('base64'),
        PAYMENTS_RATE_TEST: '0',
        PAYMENTS_SANDBOX_RTP_MS: '10',
        PAYMENTS_LOG_LEVEL: 'error',
        NODE_ENV: 'development',
        DATA_DIR: dataDir,
      },
      folder,
    );
    started.push(service);
    return service;
  };

  async function migrations(): Promise<number> {
    const { rows } = await database.database.query<{ count: number }>(
      'select count(*)::int as count from payments.migrations',
    );
    return rows[0]?.count ?? 0;
  }

  test('fails no request and loses nothing', { timeout: 180_000 }, async () => {
    const old: LoggedService[] = [await start(earlier.folder)];
    while (old.length < OLD_PROCESSES) old.push(await start(earlier.folder));
    const before = await migrations();
    let urls = old.map(({ url }) => url);
    const load = startLoad({ servers: () => urls, clients: CLIENTS, pauseMs: PAUSE_MS });
    await sleep(STEP_MS);
    const fresh: LoggedService[] = [];
    for (const leaving of old) {
      const coming = await start();
      fresh.push(coming);
      // Both versions take requests and jobs for a while.
      urls = [...urls, coming.url];
      await sleep(STEP_MS);
      urls = urls.filter((url) => url !== leaving.url);
      // As a proxy does it: what was sent there has arrived before the signal comes.
      await sleep(TAKEN_OUT_MS);
      expect(unexpectedErrors(await leaving.stop())).toEqual([]);
    }
    await sleep(STEP_MS);
    await load.stop();
    const [first] = fresh as [LoggedService];
    expect(await migrations()).toBeGreaterThan(before);
    expect(load.failures).toEqual([]);
    expect(load.promised.length).toBeGreaterThan(20);
    const all = { present: load.promised.length, completed: load.promised.length };
    await expect
      .poll(() => fateOf(database.database, load.promised), { timeout: 60_000, interval: 250 })
      .toEqual(all);
    expect(await callPayments(first.url, 'GET', '/v1/ledger/check')).toMatchObject({ body: { ok: true } });
    for (const service of fresh) await service.stop();
    console.log(
      `upgrade from ${commit?.slice(0, 7)}: ${load.promised.length} payments, none failed, none lost`,
    );
  });
});
