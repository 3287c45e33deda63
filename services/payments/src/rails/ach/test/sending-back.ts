import { expect } from 'vitest';
import { accountsOf } from '../../../ledger/service.ts';
import type { Tenant } from '../../../tenant.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import type { AchLeg } from '../entries/entry.ts';
import { lockForForcing } from '../forcing.ts';
import { originalOf } from '../incoming/notify.ts';
import { readAnswer } from '../incoming/reading.ts';
import type { House } from './house.ts';

export interface SentBack {
  id: string;
  leg: AchLeg;
  code: string;
}

/** The operator sends an entry back at the moment that the clock shows; false where it has none to send back. */
export async function sendBack(house: House, tenant: Tenant, { id, leg, code }: SentBack): Promise<boolean> {
  const { database, context, operator } = house;
  const payment = await house.get(tenant, id);
  const { now } = await house.sandbox.readClock(tenant);
  const done = await database.transaction(async (tx) => {
    await lockForForcing(tx, payment);
    const entry = (await findEntriesOf(tx, [payment])).findLast((one) => one.leg === leg && one.sentAs);
    if (!entry?.sentAs) return false;
    const original = await originalOf(tx, context, entry.sentAs);
    const order = { original, code, asOf: now, sequence: new Date() };
    const file = await operator.returnEntry(tx, entry.scope, order);
    if (!file) return false;
    const reading = await readAnswer(tx, context, { scope: entry.scope, file, asOf: now });
    expect(reading).toMatchObject({ status: 'read', aside: [] });
    return true;
  });
  await house.idle();
  return done;
}

/** The state of each leg of a payment. */
export async function legStates(house: House, tenant: Tenant, id: string): Promise<Record<string, string>> {
  const entries = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
  return Object.fromEntries(entries.map(({ leg, state }) => [leg, state]));
}

/** What is owed, by who owes it. */
export async function owedBy(house: House, tenant: Tenant): Promise<Record<string, number>> {
  const accounts = await accountsOf(house.database, tenant, { afterId: null, limit: 100, now: new Date() });
  return Object.fromEntries(
    accounts.filter(({ type }) => type === 'owed').map(({ payment_method_id: who, owed }) => [who, owed]),
  );
}
