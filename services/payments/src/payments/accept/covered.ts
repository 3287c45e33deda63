import { errors } from '../../errors.ts';
import type { Balance } from '../../ledger/balance.ts';
import { isBalanceAccount, type Transfer } from '../../ledger/transfer.ts';
import type { Payment } from '../payment.ts';
import { refundRefusal } from '../refund.ts';
import type { Acceptance } from './acceptance.ts';
import type { PlacedDraft } from './draft.ts';

interface Deciding {
  /** Keys that others took before: a repeat takes nothing, neither from a balance nor from what may be refunded. */
  taken: ReadonlySet<string>;
  originals: Originals;
  balances: readonly Balance[];
  /** What the balances, or the payments to refund, did not cover, by place; and whose keys were taken. */
  written: { refused: Map<number, unknown>; lost: number[] };
}

/**
 * With the payments to refund and the balances locked, decides in order of arrival which drafts they still cover. Who is refused
 * by the one takes nothing from the other: those that came with it would be refused for it. A balance that was deleted since it
 * was read has raised its tenant's version, by which the statement that writes refuses the payment.
 */
export function coveredDrafts(
  drafts: readonly PlacedDraft[],
  { taken, originals, balances, written: { refused, lost } }: Deciding,
): PlacedDraft[] {
  const available = new Map(
    balances.map(({ tenantId, paymentMethodId, posted, held }) => [
      `${tenantId} ${paymentMethodId}`,
      posted - held,
    ]),
  );
  const used = new Set<string>();
  return drafts.filter(({ index, acceptance }) => {
    const { payment, hold } = acceptance;
    if (payment.refundOf === null && !isBalanceAccount(hold.debitAccount)) return true;
    const slot = slotOf(acceptance);
    if (taken.has(slot) || used.has(slot)) {
      lost.push(index);
      return false;
    }
    const refusal = refusalOfRefund(payment, originals) ?? refusalOfHold(hold, available);
    if (refusal) {
      refused.set(index, refusal);
      return false;
    }
    takeRefund(payment, originals);
    takeHold(hold, available);
    used.add(slot);
    return true;
  });
}

/** The payments that drafts refund, by tenant and id. */
export type Originals = Map<string, Payment>;
/** What balances have beyond what is held, by tenant and id. */
type Available = Map<string, number>;

function refusalOfRefund({ tenantId, refundOf, amount }: Payment, originals: Originals): Error | undefined {
  if (refundOf === null) return undefined;
  const original = originals.get(`${tenantId} ${refundOf}`);
  return original ? refundRefusal(original, amount) : errors.not_found();
}

function takeRefund({ tenantId, refundOf, amount }: Payment, originals: Originals): void {
  const key = `${tenantId} ${refundOf}`;
  const original = originals.get(key);
  if (original) originals.set(key, { ...original, refundedAmount: original.refundedAmount + amount });
}

function refusalOfHold(
  { tenantId, debitAccount, amount }: Transfer,
  available: Available,
): Error | undefined {
  if (!isBalanceAccount(debitAccount)) return undefined;
  const left = available.get(`${tenantId} ${debitAccount}`) ?? 0;
  return left < amount ? errors.insufficient_funds({ extra: { available: Math.max(0, left) } }) : undefined;
}

function takeHold({ tenantId, debitAccount, amount }: Transfer, available: Available): void {
  const key = `${tenantId} ${debitAccount}`;
  const left = available.get(key);
  if (left !== undefined) available.set(key, left - amount);
}

function slotOf({ payment: { tenantId }, path, key }: Pick<Acceptance, 'payment' | 'path' | 'key'>): string {
  return `${tenantId} ${path} ${key}`;
}
