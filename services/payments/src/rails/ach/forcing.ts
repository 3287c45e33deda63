import assert from 'node:assert/strict';
import type { Queryable } from '@libs/db';
import type { Payment } from '../../payments/payment.ts';
import { rejectedByOrder, returnedByOrder, settledByOrder } from '../forced.ts';
import type { ForcedMeaning, ForcedOrder, ForcedOutcome, RailOutcome } from '../rail.ts';
import { changeMeaning, entryRefusalMeaning, returnMeaning } from './codes/meanings.ts';
import { notifyOfChange } from './incoming/notify.ts';
import type { AchContext } from './work/context.ts';

const CHANGE_DEFAULT = 'C01';

export function meaningOnAch(outcome: ForcedOutcome, code: string | null): ForcedMeaning {
  if (outcome === 'settle') return { ok: true, meaning: null };
  if (outcome === 'return' && code === null) return { ok: false, reason: 'code_required' };
  const meaning = {
    reject: () => entryRefusalMeaning(code),
    return: () => returnMeaning(code ?? ''),
    notify_of_change: () => changeMeaning(code ?? CHANGE_DEFAULT),
  }[outcome]();
  return meaning ? { ok: true, meaning } : { ok: false, reason: 'code_unknown' };
}

/** What the sandbox's operator is told to do with a payment. */
export async function forceOnAch(
  context: AchContext,
  tx: Queryable,
  payment: Payment,
  { outcome, meaning, at }: ForcedOrder,
): Promise<RailOutcome[]> {
  if (outcome === 'settle') return settledByOrder(payment, at);
  assert(meaning, `${outcome} has a code`);
  if (outcome === 'reject') return rejectedByOrder(payment, meaning);
  if (outcome === 'return') return returnedByOrder(payment, meaning);
  await notifyOfChange(context, tx, payment, meaning.networkCode);
  return [];
}
