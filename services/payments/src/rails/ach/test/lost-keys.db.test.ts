// An account, a file or a correction that no key opens: live waits for the key, unless the operator has given it up.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import { type Tenant, tenantOf } from '../../../tenant.ts';
import type { OutboundFile } from '../bank/transport.ts';
import { LIVE_SCOPE } from '../entries/scope.ts';
import { tick } from '../work/tick.ts';
import { createHouse, type House } from './house.ts';
import { anOriginator } from './legs.ts';

const GIVEN_UP = '0badc0de';
const AWAY = '0badbeef';

let house: House;
let tenant: Tenant;
let now: Date;
let organisations = 0;
const sent: OutboundFile[] = [];
let line: 'open' | 'cut' = 'open';

beforeAll(async () => {
  now = fromNewYork('2083-03-01', '09:00');
  const transport = {
    async send(file: OutboundFile) {
      if (line === 'cut') throw new Error('the line is cut');
      sent.push(file);
      return { ok: true } as const;
    },
    collect: async () => ({ files: [], isAll: true }),
    acknowledge: async () => {},
    nextAnswerAt: async () => null,
  };
  house = await createHouse({
    ...{ now: () => now, lostKeyIds: [GIVEN_UP], live: { transport, originator: anOriginator } },
  });
});
afterAll(() => house.close());

beforeEach(async () => {
  organisations += 1;
  sent.length = 0;
  line = 'open';
  now = fromNewYork('2083-03-01', '09:00');
  tenant = await house.addTenant(`org_lost_${organisations}`, 'live');
  await house.database.query('truncate ach_entries, ach_files');
});

/** A live payment to an account of its own. */
async function payOut(): Promise<{ id: string; account: string }> {
  const balance = await house.openBalance(tenant, 500_00);
  const account = await house.addAccount(tenant, {
    ...{ routingNumber: '021000021', accountNumber: '000111222333', accountType: 'checking' },
    ...{ holderName: 'Maria Muller', holderType: 'individual' },
  });
  const worker = await house.startWorking();
  const id = await house.pay(tenant, { sourceId: balance, destinationId: account });
  await house.idle();
  await worker.drain();
  return { id, account };
}

/** As if it had been sealed with that key. */
const sealAccount = (id: string, keyId: string) =>
  house.database.query(
    `update payment_methods set account_sealed = overlay(account_sealed placing decode($2, 'hex') from 2) where id = $1`,
    [id, keyId],
  );
const sealFiles = (keyId: string) =>
  house.database.query(
    `update ach_files set content_sealed = overlay(content_sealed placing decode($1, 'hex') from 2)`,
    [keyId],
  );

const atWindow = () => {
  now = fromNewYork('2083-03-01', '22:30');
  return tick(house.context, LIVE_SCOPE);
};

test('a live account waits for its key; one whose key is given up fails its own payment and holds up no other', async () => {
  const [bad, good] = [await payOut(), await payOut()];
  await sealAccount(bad.account, AWAY);
  await expect(atWindow()).rejects.toThrow('no configured key opens this envelope');
  expect([sent, (await house.get(tenant, bad.id)).status]).toEqual([[], 'pending']);
  await sealAccount(bad.account, GIVEN_UP);
  await atWindow();
  expect(await house.get(tenant, bad.id)).toMatchObject({
    status: 'failed',
    failure: { code: 'account_number_invalid' },
  });
  expect([sent.length, (await house.get(tenant, good.id)).status]).toEqual([1, 'processing']);
});

test('so does a live file that has not left; one that may be at the bank waits for a person', async () => {
  const { id } = await payOut();
  line = 'cut';
  await expect(atWindow()).rejects.toThrow('the line is cut');
  line = 'open';
  await sealFiles(AWAY);
  await expect(atWindow()).rejects.toThrow('no configured key');
  await sealFiles(GIVEN_UP);
  await house.database.query('update ach_files set uploaded_at = $1', [now]);
  await expect(atWindow()).rejects.toThrow('no configured key');
  await house.database.query('update ach_files set uploaded_at = null');
  await atWindow();
  expect(await house.get(tenant, id)).toMatchObject({
    status: 'failed',
    failure: { code: 'file_refused' },
  });
  expect(sent).toEqual([]);
});

test('a correction of an account that nobody opens any more holds up no answer', async () => {
  const sandbox = tenantOf(tenant.organisationId, 'test');
  const worker = await house.startWorking();
  await house.moveClock(sandbox, fromNewYork('2083-03-01', '09:00'));
  const id = await house.pay(sandbox, { sourceId: 'pm_lost' });
  await house.idle();
  await house.moveClock(sandbox, fromNewYork('2083-03-01', '23:00'));
  await worker.drain();
  await sealAccount('pm_lost', AWAY);
  house.alerts.length = 0;
  await house.force(sandbox, id, 'notify_of_change', 'C01');
  expect(house.alerts.map(({ message }) => message)).toEqual([
    'an account that cannot be opened is not corrected',
  ]);
});
