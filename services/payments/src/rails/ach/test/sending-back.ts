import { expect } from 'vitest';
import { accountsOf } from '../../../ledger/service.ts';
import type { Tenant } from '../../../tenant.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import type { AchLeg } from '../entries/entry.ts';
import { lockForForcing } from '../forcing.ts';
import { originalOf } from '../incoming/notify.ts';
import { readAnswer } from '../incoming/reading.ts';
import { writeNacha } from '../nacha/write.ts';
import { type AnswerToWrite, answerFile } from '../operator/answers.ts';
import { SANDBOX_ORIGINATOR } from '../outgoing/originator.ts';
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

/** The same of several entries of a payment, in one file. */
export async function sendBackTogether(
  house: House,
  tenant: Tenant,
  { id, legs, code }: { id: string; legs: readonly AchLeg[]; code: string },
): Promise<void> {
  const { database, context, operator } = house;
  const { now: asOf } = await house.sandbox.readClock(tenant);
  const entries = await findEntriesOf(database, [{ tenantId: tenant.id, id }]);
  const answers: AnswerToWrite[] = [];
  await database.transaction(async (tx) => {
    for (const leg of legs) {
      const entry = entries.findLast((one) => one.leg === leg && one.sentAs);
      if (!entry?.sentAs) continue;
      const original = await originalOf(tx, context, entry.sentAs);
      const order = { original, code, asOf, sequence: new Date() };
      const isThere = await operator.returnEntry(tx, entry.scope, order);
      if (isThere) answers.push({ id: answers.length + 1, kind: 'return', code, original });
    }
  });
  if (answers.length === 0) return;
  const options = { asOf, originator: SANDBOX_ORIGINATOR, sequence: Date.now() };
  const file = {
    name: `${context.newId('answer')}.ach`,
    content: writeNacha(answerFile(answers, options)),
  };
  const reading = await database.transaction((tx) =>
    readAnswer(tx, context, { scope: tenant.id, file, asOf }),
  );
  expect(reading).toMatchObject({ status: 'read', aside: [] });
  await house.idle();
}

/** What the operator's books have of money that was paid out and stayed there. */
export async function paidOut(house: House, { id: mailbox }: Tenant): Promise<number> {
  const { rows } = await house.database.query<{ paid: number }>(
    `select coalesce(sum(amount), 0)::bigint as paid from sandbox_ach_entries
     where mailbox = $1 and direction = 'credit' and returned_at is null`,
    [mailbox],
  );
  return rows[0]?.paid ?? 0;
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
