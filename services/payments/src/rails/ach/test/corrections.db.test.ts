// What a bank corrects is written last: whoever accepts payments meanwhile locks balances first, and then tenants.
import { somebodyWaits } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import { lockForChange } from '../../../ledger/service.ts';
import type { Tenant } from '../../../tenant.ts';
import type { InboundFile } from '../bank/transport.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { originalOf } from '../incoming/notify.ts';
import { readAnswer } from '../incoming/reading.ts';
import { writeNacha } from '../nacha/write.ts';
import { type AnswerToWrite, answerFile } from '../operator/answers.ts';
import { SANDBOX_ORIGINATOR } from '../outgoing/originator.ts';
import { createHouse, type House } from './house.ts';

const SENT_AT = fromNewYork('2083-03-02', '12:00');

let house: House;
let tenant: Tenant;

beforeAll(async () => {
  house = await createHouse();
  await house.startWorking();
  tenant = await house.addTenant('org_corrections');
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
});
afterAll(() => house.close());

/** One file with what banks say of the debits of payments. */
async function fileOf(said: readonly Pick<AnswerToWrite, 'kind' | 'code'>[], paymentIds: readonly string[]) {
  const { database, context } = house;
  const answers = await database.transaction((tx) =>
    Promise.all(
      paymentIds.map(async (id, index) => {
        const entries = await findEntriesOf(tx, [{ tenantId: tenant.id, id }]);
        const sentAs = entries.find(({ leg }) => leg === 'debit')?.sentAs;
        if (!sentAs) throw new Error(`the debit of ${id} was not sent`);
        const original = await originalOf(tx, context, sentAs);
        return { id: index + 1, original, kind: 'return' as const, code: 'R10', ...said[index] };
      }),
    ),
  );
  const options = { asOf: SENT_AT, originator: SANDBOX_ORIGINATOR, sequence: 1 };
  return { name: 'corrections.ach', content: writeNacha(answerFile(answers, options)) };
}

async function version(): Promise<number> {
  const { rows } = await house.database.query<{ version: number }>(
    'select version from tenant_versions where tenant_id = $1',
    [tenant.id],
  );
  return rows[0]?.version ?? 0;
}

/** Reads the file while somebody holds the balance, who then takes the version of the tenant as whoever accepts does. */
async function readWhileAccepting(file: InboundFile, paymentMethodId: string): Promise<unknown> {
  const { database, context } = house;
  const [held, waited] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const accepting = database.transaction(async (tx) => {
    await lockForChange(tx, [{ tenantId: tenant.id, paymentMethodId }]);
    held.resolve();
    await waited.promise;
    await tx.query('select from tenant_versions where tenant_id = $1 for share nowait', [tenant.id]);
  });
  await held.promise;
  const reading = database.transaction((tx) =>
    readAnswer(tx, context, { scope: tenant.id, file, asOf: SENT_AT }),
  );
  try {
    await expect.poll(() => somebodyWaits(database), { timeout: 10_000 }).toBe(true);
  } finally {
    waited.resolve();
    await accepting;
  }
  return reading;
}

test('an account is corrected after balances have changed, so that nobody who accepts payments waits in a circle', async () => {
  const balance = await house.openBalance(tenant, 1);
  const moved = await house.addAccount(tenant, {
    ...{ routingNumber: '021000021', accountNumber: '000123456789', accountType: 'checking' },
    ...{ holderName: 'Ada Lovelace', holderType: 'individual' },
  });
  const corrected = await house.pay(tenant, { sourceId: moved });
  const returned = await house.pay(tenant, { destinationId: balance });
  await house.idle();
  await house.moveClock(tenant, SENT_AT);
  const file = await fileOf(
    [
      { kind: 'noc', code: 'C02' },
      { kind: 'return', code: 'R10' },
    ],
    [corrected, returned],
  );
  const before = await version();
  expect(await readWhileAccepting(file, balance)).toMatchObject({ status: 'read', aside: [] });
  expect(await version()).toBeGreaterThan(before);
  expect((await house.methods.get(tenant, moved)).method.bank?.routingNumber).toBe('110000026');
  expect((await house.get(tenant, returned)).status).toBe('returned');
});
