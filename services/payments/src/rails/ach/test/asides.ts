import { expect } from 'vitest';
import type { Tenant } from '../../../tenant.ts';
import type { AsideApplied } from '../../rail.ts';
import type { AchEntry } from '../entries/entry.ts';
import { lockForForcing } from '../forcing.ts';
import { applyAside } from '../incoming/applying.ts';
import { originalOf } from '../incoming/notify.ts';
import { readAnswer } from '../incoming/reading.ts';
import { orderedAnswer } from '../operator/answers.ts';
import { SANDBOX_ORIGINATOR } from '../outgoing/originator.ts';
import type { House } from './house.ts';

/** Answers that are put aside, and what an operator does with them. */

/** A trace that nobody here ever used. */
const STRAY_TRACE = '110000007777777';

interface SaidOf {
  entry: AchEntry;
  code: string;
}

async function orderOf(house: House, tenant: Tenant, { entry, code }: SaidOf) {
  const { now: asOf } = await house.sandbox.readClock(tenant);
  if (!entry.sentAs) throw new Error('what never left cannot come back');
  const original = await originalOf(house.database, house.context, entry.sentAs);
  return { original, code, asOf, sequence: new Date() };
}

/** The bank returns an entry that it has, under a trace that is not ours. Answers what lies in the quarantine then. */
export async function sendBackGarbled(
  house: House,
  tenant: Tenant,
  said: SaidOf,
): Promise<string | undefined> {
  const order = await orderOf(house, tenant, said);
  const { scope } = said.entry;
  const file = await house.database.transaction((tx) => house.operator.returnEntry(tx, scope, order));
  const garbled = file?.content.replace(/^(799R\d\d)\d{15}/m, `$1${STRAY_TRACE}`);
  return garbled && readAside(house, tenant, { entry: said.entry, content: garbled });
}

/** The bank returns an entry that it has, and something happens to the text on its way. */
export async function sendBackSpoiled(
  house: House,
  tenant: Tenant,
  said: SaidOf,
  spoil: (text: string) => string,
): Promise<string> {
  const order = await orderOf(house, tenant, said);
  const { scope } = said.entry;
  const file = await house.database.transaction((tx) => house.operator.returnEntry(tx, scope, order));
  if (!file) throw new Error('the bank has the entry');
  return readAside(house, tenant, { entry: said.entry, content: spoil(file.content) });
}

/** The bank returns an entry that it no longer has: it came back before, or its file was refused. */
export async function sendBackAgain(house: House, tenant: Tenant, said: SaidOf): Promise<string> {
  const content = orderedAnswer('return', await orderOf(house, tenant, said), SANDBOX_ORIGINATOR);
  return readAside(house, tenant, { entry: said.entry, content });
}

async function readAside(
  house: House,
  tenant: Tenant,
  { entry: { scope }, content }: { entry: AchEntry; content: string },
): Promise<string> {
  const { now: asOf } = await house.sandbox.readClock(tenant);
  const file = { name: `${house.context.newId('answer')}.ach`, content };
  const reading = await house.database.transaction((tx) =>
    readAnswer(tx, house.context, { scope, file, asOf }),
  );
  expect(reading).toMatchObject({ status: 'read', aside: [{}] });
  return reading.status === 'read' ? (reading.aside[0]?.content ?? '') : '';
}

/** An operator says to which payment something belongs. */
export async function applyTo(
  house: House,
  tenant: Tenant,
  { id, content }: { id: string; content: string },
): Promise<AsideApplied> {
  const { database, context } = house;
  const payment = await house.get(tenant, id);
  return database.transaction(async (tx) => {
    await lockForForcing(tx, payment);
    const [locked] = await context.lockPayments(tx, [{ tenantId: tenant.id, id }]);
    return applyAside(context, tx, locked ?? payment, content);
  });
}
