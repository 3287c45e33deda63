import assert from 'node:assert/strict';
import type { Payment } from '../../../payments/payment.ts';
import type { AchScope } from './scope.ts';

/** The refund gives back what the debit took, when the credit did not go through. */
export type AchLeg = 'debit' | 'credit' | 'refund';

export type AchEntryState =
  | 'queued'
  | 'sent'
  | 'settled'
  | 'returned'
  /** The bank took nothing of the file that it was in. */
  | 'refused'
  /** Never left. */
  | 'canceled'
  /** Left, but the sandbox was told to end the payment otherwise. */
  | 'overruled';

/** Where an entry stands in the files that we sent. */
export interface SentAs {
  trace: string;
  /** Eight digits of the bank that it went to. */
  rdfi: string;
  fileId: string;
  /** Under which the payment's owner sees it. */
  messageId: string;
}

export interface AchEntry {
  tenantId: string;
  paymentId: string;
  attemptId: string;
  leg: AchLeg;
  scope: AchScope;
  state: AchEntryState;
  amount: number;
  /** How often the debit had been presented before; zero for what is no debit. */
  presentment: number;
  sameDay: boolean;
  /** When its file leaves, and when it settles, in the time of its scope. */
  dueAt: Date;
  settlesAt: Date;
  /** When its money counts: a debit's after its hold, any other entry's at settlement. */
  goodAt: Date;
  sentAs: SentAs | null;
  returnCode: string | null;
}

export function directionOf(leg: AchLeg): 'debit' | 'credit' {
  return leg === 'debit' ? 'debit' : 'credit';
}

/** Whether it left and is with the bank that it went to, so that it can come back. */
export function isOut({ state }: AchEntry): boolean {
  return state === 'sent' || state === 'settled' || state === 'overruled';
}

/** Which of the payment's methods the entry concerns. */
export function methodIdOf(payment: Payment, leg: AchLeg): string {
  return leg === 'credit' ? payment.destinationId : payment.sourceId;
}

export function paymentKeyOf(entry: AchEntry): { tenantId: string; id: string } {
  return { tenantId: entry.tenantId, id: entry.paymentId };
}

export function textKeyOf(key: { tenantId: string; id: string }): string {
  return `${key.tenantId} ${key.id}`;
}

/** The entries of one attempt, by leg. */
export class AttemptEntries {
  readonly #byLeg: ReadonlyMap<AchLeg, AchEntry>;

  constructor(entries: readonly AchEntry[]) {
    this.#byLeg = new Map(entries.map((entry) => [entry.leg, entry]));
    assert(this.#byLeg.size === entries.length, 'an attempt has each leg once');
  }

  get(leg: AchLeg): AchEntry | undefined {
    return this.#byLeg.get(leg);
  }

  /** The debit, where the source took the money back. */
  get lostDebit(): AchEntry | undefined {
    const debit = this.get('debit');
    return debit?.state === 'returned' ? debit : undefined;
  }

  /** Whether the credit left and did not come back: the destination has the money, or will have it. */
  get isPaidOut(): boolean {
    const credit = this.get('credit');
    return credit !== undefined && isOut(credit);
  }

  /** What must not leave any more because the money that it hands on was taken back. */
  toCancel(): AchEntry[] {
    if (!this.lostDebit) return [];
    return (['credit', 'refund'] as const)
      .map((leg) => this.get(leg))
      .filter((entry) => entry !== undefined)
      .filter((entry) => entry.state === 'queued');
  }

  /** Whether money was collected that can no longer reach its destination and has not been sent back. */
  needsRefund(): boolean {
    const credit = this.get('credit')?.state;
    const isLost = credit === 'returned' || credit === 'refused' || credit === 'canceled';
    return isLost && this.get('debit')?.state === 'settled' && !this.get('refund');
  }

  get hasReturn(): boolean {
    return [...this.#byLeg.values()].some((entry) => entry.state === 'returned');
  }
}
