import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import type { Job } from '@libs/jobs';
import { createIdFactory } from '@libs/seal';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConnectorError } from '../connectors/connector.ts';
import { createRig } from '../credentials/test/rig.ts';
import { migrationSource } from '../schema.ts';
import { createHealth, type Health } from './service.ts';
import { createPlatform, type Platform, unavailable } from './test/platform.ts';

// Each `createHealth` stands for a process; the HTTP side is tested with the contract.

let offsetMs = 0;
const now = () => new Date(Date.now() + offsetMs);
const newId = createIdFactory({ now: () => new Date(), randomBytes });
const errors: unknown[] = [];
let db: TestDatabase;
let platform: Platform;
let second: Platform;
let rig: ReturnType<typeof createRig>;

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
});
afterAll(() => db.drop());
beforeEach(() => {
  platform = createPlatform('alpha', now);
  second = createPlatform('beta', now, { renewAheadMs: 1_000 });
  rig = createRig({ database: db.database, connectors: [platform.connector, second.connector], now });
  errors.length = 0;
});

function startHealth(probeTimeoutMs = 5_000): Health {
  return createHealth({
    database: db.database,
    connectors: rig.connectors,
    credentials: rig.credentials,
    newId,
    now,
    onError: (error) => errors.push(error),
    probeTimeoutMs,
  });
}

const connect = (customerId: string, credential: object, id = 'alpha') =>
  rig.credentials.put({ customerId, platform: id, credential, verify: false, standing: async () => {} });

async function newAccount(credential: object = { token: 't' }): Promise<string> {
  const customerId = newId('cus');
  await connect(customerId, credential);
  return customerId;
}

const firstOf = async (health: Health, customerId: string) =>
  (await health.forCustomer(customerId)).report.platforms[0];

const eventsOf = async (customerId: string) =>
  (await db.database.query<{ type: string }>('select type from events where customer_id = $1', [customerId]))
    .rows;

describe('a probe', () => {
  it.each([
    ['degraded', async () => ({ status: 'degraded' as const, message: 'slow down' }), 'slow down'],
    [
      'down',
      unavailable('the platform is away'),
      expect.stringMatching(/the platform is away.*tell the operator/),
    ],
    ['down', async () => ({ status: 'down' as const, message: 'broken' }), 'broken'],
  ])('says %s', async (status, respond, message) => {
    platform.respond = respond;
    expect(await firstOf(startHealth(), await newAccount())).toMatchObject({ status, message });
  });

  it('gives an account that was stored untried the name that the platform has for it', async () => {
    const customerId = await newAccount();
    const stored = await rig.credentials.get(customerId, 'alpha');
    platform.respond = async () => ({ status: 'ok', message: null, account: 'ada in Team' });
    const health = startHealth();
    expect(await firstOf(health, customerId)).toEqual({
      ...{ platform: 'alpha', status: 'ok', message: null, token_expires_at: null },
      latency_ms: expect.any(Number),
    });
    expect(await rig.credentials.get(customerId, 'alpha')).toEqual({ ...stored, account: 'ada in Team' });
    // The report is of the account by its new name, and stands.
    expect(await health.forCustomer(customerId)).toMatchObject({ cached: true });
  });

  it('gives no name to another account that was connected meanwhile', async () => {
    const customerId = await newAccount();
    platform.respond = async () => {
      platform.respond = async () => ({ status: 'ok', message: null });
      await connect(customerId, { token: 'another' });
      return { status: 'ok', message: null, account: 'ada in Team' };
    };
    await startHealth().forCustomer(customerId);
    expect(await rig.credentials.get(customerId, 'alpha')).toMatchObject({ account: 'account of 7' });
  });

  it('that hangs ends in time and leaves the other platforms alone', async () => {
    const customerId = await newAccount();
    await connect(customerId, { token: 'b' }, 'beta');
    platform.respond = () => new Promise(() => {});
    const { report } = await startHealth(800).forCustomer(customerId);
    expect(report.platforms).toMatchObject([
      { status: 'down', latency_ms: null, message: 'The platform did not answer within 0.8 s.' },
      { status: 'ok' },
    ]);
  });

  it('with a bug in it says nothing about the platform, and tells the operator', async () => {
    platform.respond = () => Promise.reject(new TypeError('x is not a function'));
    const found = await firstOf(startHealth(), await newAccount());
    expect(found).toMatchObject({ status: 'unknown', message: 'The check could not be made.' });
    expect(errors).toMatchObject([{ message: 'x is not a function' }]);
  });

  it('is not made of a credential that has expired, nor of one that nothing can open', async () => {
    const health = startHealth();
    const customerId = await newAccount({
      token: 't',
      expires_at: new Date(Date.now() - 1_000).toISOString(),
    });
    expect(await firstOf(health, customerId)).toMatchObject({ status: 'token_expired', latency_ms: null });
    expect(await eventsOf(customerId)).toEqual([{ type: 'credential.expired' }]);
    const broken = await newAccount();
    await db.database.query(`update credentials set sealed = '\\x00' where customer_id = $1`, [broken]);
    expect(await firstOf(health, broken)).toMatchObject({ status: 'not_connected' });
    expect(platform.probes).toEqual([]);
  });

  it('renews what is due before it asks, and once', async () => {
    const expires_at = new Date(Date.now() - 1_000).toISOString();
    const customerId = await newAccount({ token: 'r', expires_at, renewable: true });
    const health = startHealth();
    expect(await firstOf(health, customerId)).toMatchObject({ status: 'ok' });
    expect([platform.refreshes, platform.probes]).toEqual([1, ['r+']]);
    expect((await health.forCustomer(customerId)).cached).toBe(true);
  });

  it.each([
    ['is over', -1_000],
    ['is refused', 3_600_000],
  ])('whose token %s and cannot be renewed now says that the platform is down', async (_why, endsInMs) => {
    const expires_at = new Date(Date.now() + endsInMs).toISOString();
    const customerId = await newAccount({ token: 'r', expires_at, renewable: true });
    platform.revoked.add('r');
    platform.connector.refresh = () =>
      Promise.reject(new ConnectorError('platform_unavailable', 'no renewal now'));
    expect(await firstOf(startHealth(), customerId)).toMatchObject({
      status: 'down',
      message: expect.stringContaining('no renewal now'),
    });
    expect(await eventsOf(customerId)).toEqual([]);
  });
});

describe('a credential that changes while its platform is asked', () => {
  it('is asked for anew, and nobody gets what was found before', async () => {
    const customerId = await newAccount({ token: 'old' });
    const health = startHealth();
    let release = () => {};
    platform.respond = () =>
      new Promise((answer) => {
        release = () => answer({ status: 'down', message: 'the old one' });
      });
    const asked = health.forCustomer(customerId);
    await expect.poll(() => platform.probes).toEqual(['old']);
    platform.respond = async () => ({ status: 'ok', message: null });
    await sleep(2);
    await connect(customerId, { token: 'new' });
    const later = health.forCustomer(customerId);
    release();
    expect((await asked).report.platforms[0]).toMatchObject({ status: 'ok' });
    expect((await later).report.platforms[0]).toMatchObject({ status: 'ok' });
    expect(platform.probes.slice(0, 2)).toEqual(['old', 'new']);
    expect((await startHealth().forCustomer(customerId)).cached).toBe(true);
  });
});

describe('a process that makes a report', () => {
  it('and dies is replaced when its lease ends', async () => {
    const customerId = await newAccount();
    await db.database.query(
      `insert into health_reports (customer_id, lease_id, lease_until)
       values ($1, 'lse_of_the_dead', clock_timestamp() + interval '400 milliseconds')`,
      [customerId],
    );
    const startedMs = performance.now();
    expect(await firstOf(startHealth(), customerId)).toMatchObject({ status: 'ok' });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(350);
    expect(platform.probes.length).toBe(1);
  });

  it('and takes longer than its lease keeps it', async () => {
    const customerId = await newAccount();
    const slow = startHealth(20_000);
    let release = () => {};
    platform.respond = () =>
      new Promise((answer) => {
        release = () => answer({ status: 'ok', message: null });
      });
    const first = slow.forCustomer(customerId);
    await expect.poll(() => platform.probes.length).toBe(1);
    const until = async () =>
      (
        await db.database.query<{ lease_until: Date }>(
          'select lease_until from health_reports where customer_id = $1',
          [customerId],
        )
      ).rows[0]?.lease_until.getTime() ?? 0;
    const before = await until();
    await expect.poll(until).toBeGreaterThan(before);
    const other = startHealth().forCustomer(customerId);
    release();
    expect((await first).report).toEqual((await other).report);
    expect(platform.probes.length).toBe(1);
  });

  it('and fails gives the lease back', async () => {
    const customerId = await newAccount();
    const { list } = rig.credentials;
    let lists = 0;
    rig.credentials.list = (input) => {
      lists += 1;
      return lists === 3 ? Promise.reject(new Error('no database')) : list(input);
    };
    const health = startHealth();
    await expect(health.forCustomer(customerId)).rejects.toThrow('no database');
    expect(await firstOf(health, customerId)).toMatchObject({ status: 'ok' });
  });
});

describe('the watch', () => {
  const jobOf = (health: Health, name: string) => {
    const handler = health.jobs.handlers.find((one) => one.name === name);
    return (payload: unknown) =>
      handler?.handle([{ id: 1, name, payload, key: null, attempt: 1 } satisfies Job], {
        signal: new AbortController().signal,
      });
  };
  const planted = async () =>
    (
      await db.database.query<{ payload: { after: string } }>(
        `delete from jobs where name = 'health.watch_page' returning payload`,
      )
    ).rows.map(({ payload }) => payload.after);

  beforeEach(async () => {
    for (const table of ['credentials', 'jobs', 'events']) await db.database.query(`delete from ${table}`);
  });

  it('finds out about every account, page by page, and tells of those that were revoked', async () => {
    const health = startHealth();
    const customers: string[] = [];
    for (let nth = 0; nth < 130; nth += 1) customers.push(await newAccount({ token: `t${nth}` }));
    platform.revoked.add('t7').add('t120');
    await jobOf(health, 'health.watch')({});
    const pages: string[] = [];
    for (let [after] = await planted(); after !== undefined; [after] = await planted()) {
      pages.push(after);
      await jobOf(health, 'health.watch_page')({ after });
    }
    expect(pages).toEqual(['', customers[99]]);
    expect(new Set(platform.probes).size).toBe(130);
    const { rows } = await db.database.query('select customer_id, type from events order by customer_id');
    expect(rows).toEqual(
      [customers[7], customers[120]].map((customer_id) => ({ customer_id, type: 'credential.expired' })),
    );
    expect(errors).toEqual([]);
  });

  it('goes on where the accounts of one customer cannot be looked at', async () => {
    const [bad, good] = [await newAccount({ token: 'bad' }), await newAccount({ token: 'good' })];
    const { list } = rig.credentials;
    rig.credentials.list = (input) =>
      input.customerId === bad ? Promise.reject(new Error('no database')) : list(input);
    await jobOf(startHealth(), 'health.watch_page')({ after: '' });
    expect(platform.probes).toEqual(['good']);
    expect((await startHealth().forCustomer(good)).cached).toBe(true);
    expect(errors).toMatchObject([{ message: 'no database' }]);
  });

  it('asks nobody twice within the time that reports are kept', async () => {
    const customerId = await newAccount();
    await startHealth().forCustomer(customerId);
    await jobOf(startHealth(), 'health.watch_page')({ after: '' });
    expect(platform.probes.length).toBe(1);
    offsetMs = 10 * 60_000 + 1_000;
    await jobOf(startHealth(), 'health.watch_page')({ after: '' });
    expect(platform.probes.length).toBe(2);
    offsetMs = 0;
  });

  it('expires what has run out, only that, and only once', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const over = new Date(Date.now() - 1_000).toISOString();
    const late = await newAccount({ token: 'late', expires_at: over });
    const renewable = await newAccount({ token: 'renewable', expires_at: over, renewable: true });
    const early = await newAccount({ token: 'early', expires_at: soon });
    const endless = await newAccount({ token: 'endless' });
    const renewedAhead = newId('cus');
    await connect(renewedAhead, { token: 'ahead', expires_at: over, renewable: true }, 'beta');
    const run = jobOf(startHealth(), 'health.run_out');
    await run({});
    await run({});
    for (const gone of [late, renewedAhead])
      expect(await eventsOf(gone)).toEqual([{ type: 'credential.expired' }]);
    expect(second.refreshes).toBe(0);
    for (const other of [renewable, early, endless]) expect(await eventsOf(other)).toEqual([]);
    expect([platform.refreshes, platform.probes]).toEqual([0, []]);
  });

  it('goes on behind rows that cannot be opened', async () => {
    const over = new Date(Date.now() - 2_000).toISOString();
    const broken: string[] = [];
    for (let nth = 0; nth < 205; nth += 1) broken.push(await newAccount({ token: 'x', expires_at: over }));
    await db.database.query(`update credentials set sealed = '\\x00' where customer_id = any($1)`, [broken]);
    const late = await newAccount({ token: 'late', expires_at: new Date(Date.now() - 1_000).toISOString() });
    await jobOf(startHealth(), 'health.run_out')({});
    expect(await eventsOf(late)).toEqual([{ type: 'credential.expired' }]);
  });
});
