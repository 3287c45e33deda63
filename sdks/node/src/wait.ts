import { PaymentsError } from './errors.ts';
import type { Payment, PaymentStatus } from './types.ts';

/** Of one look: a server that does not answer is asked again, not waited for. */
const LOOK_TIMEOUT_MS_MAX = 30_000;
/** The last look gets so much time, too: what it sees is newer than what the one before saw. */
const LOOK_TIMEOUT_MS_MIN = 500;

/** Where a payment may still go from each status; the three without a way on are final. */
const reachable: Readonly<Record<string, readonly PaymentStatus[]>> = {
  pending: ['processing', 'completed', 'failed', 'canceled', 'returned'],
  processing: ['completed', 'failed', 'returned'],
  completed: ['returned'],
  failed: [],
  canceled: [],
  returned: [],
};

/** The payment did not get there in time. It is unharmed: look again later. */
export class WaitTimeoutError extends PaymentsError {
  override readonly name = 'WaitTimeoutError';
  /** As it was last seen; absent where it never was. */
  readonly payment: Payment | undefined;

  constructor(message: string, payment: Payment | undefined, cause?: unknown) {
    super(message, { code: 'wait_timeout', retryable: true, cause });
    this.payment = payment;
  }
}

/** The payment went another way, and can never get there. */
export class UnexpectedStatusError extends PaymentsError {
  override readonly name = 'UnexpectedStatusError';
  readonly payment: Payment;

  constructor(payment: Payment, wanted: readonly PaymentStatus[]) {
    const why = payment.failure === null ? '' : ` (${payment.failure.code}: ${payment.failure.detail})`;
    super(`Payment ${payment.id} is ${payment.status}${why} and will not become ${wanted.join(' or ')}.`, {
      code: 'unexpected_status',
    });
    this.payment = payment;
  }
}

/** What a look at the payment tells somebody who waits for one of these statuses. */
export function judge(payment: Payment, wanted: readonly PaymentStatus[]): 'there' | 'waiting' | 'pointless' {
  if (wanted.includes(payment.status)) return 'there';
  const ahead = reachable[payment.status];
  // A status that this version does not know is no reason to give up.
  if (ahead === undefined || wanted.some((status) => ahead.includes(status))) return 'waiting';
  // What is on its way or completed has been through the earlier ones, too fast to be seen. What ended badly never counts.
  const passed = payment.timeline.some(({ status }) => wanted.includes(status));
  return passed && ahead.length > 0 ? 'there' : 'pointless';
}

/** Whether nothing can happen to it any more. */
export function isFinal(status: PaymentStatus): boolean {
  return reachable[status]?.length === 0;
}

/** How long one look may take for somebody who waits so much longer; never longer than any try of the client. */
export function lookTimeoutMs(leftMs: number, tryTimeoutMs: number): number {
  return Math.min(LOOK_TIMEOUT_MS_MAX, tryTimeoutMs, Math.max(LOOK_TIMEOUT_MS_MIN, leftMs));
}
