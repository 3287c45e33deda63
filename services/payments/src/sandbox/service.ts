import type { Database, Queryable } from '@libs/db';
import { enqueueJobs } from '@libs/jobs';
import { clockNow, type SandboxClock } from '../clock/clock.ts';
import type { Clocks } from '../clock/service.ts';
import { errors } from '../errors.ts';
import { recordTransfers } from '../ledger/service.ts';
import { OUTSIDE_SOURCES, type Transfer } from '../ledger/transfer.ts';
import type { PaymentMethod } from '../payment-methods/method.ts';
import { AMOUNT_MAX, type Payment } from '../payments/payment.ts';
import type { Processing } from '../payments/processing.ts';
import type { RailOutcome } from '../rails/rail.ts';
import type { Tenant } from '../tenant.ts';
import { addDuration } from './duration.ts';

/** The organisation's clock was moved: whatever has become due must happen. */
export const CLOCK_JOB = 'sandbox.clock_moved';
/** The dates of ACH files have years of two digits. */
const CLOCK_YEAR_MAX = 2099;

export type ClockMove = { now: Date } | { advance: string };
export type ForcedOutcome = 'settle' | 'reject' | 'return' | 'notify_of_change';

/** A network code in words, from the rail's own table. */
export interface ForcibleCode {
  networkCode: string;
  code: string;
  detail: string;
}

export interface SandboxDependencies {
  database: Database;
  processing: Processing;
  clocks: Clocks;
  now: () => Date;
  newId: (prefix: string) => string;
  getPayment: (tenant: Tenant, id: string, db?: Queryable) => Promise<Payment>;
  /** Undefined where the rail knows no such code. */
  rejectMeaning: (rail: Payment['railSelected'], code: string | null) => ForcibleCode | undefined;
  returnMeaning: (code: string) => ForcibleCode | undefined;
  /** Tells a payment method's owner of a change, as a notification of the network would; false for an unknown code. */
  notifyOfChange: (tx: Queryable, payment: Payment, code: string) => Promise<boolean>;
  orderOutcome: (
    tx: Queryable,
    payment: Payment,
    outcome: { status: 'ACTC' } | { status: 'RJCT'; code: string },
  ) => Promise<void>;
  getBalance: (tx: Queryable, tenant: Tenant, id: string) => Promise<PaymentMethod>;
}

export function createSandboxService(deps: SandboxDependencies) {
  const { database } = deps;

  async function readClock(
    tenant: Tenant,
    db: Queryable = database,
  ): Promise<{ clock: SandboxClock; now: Date }> {
    const times = await deps.clocks.timesOf(db, [tenant.id]);
    return { clock: times.clockOf(tenant.id), now: times.at(tenant.id) };
  }

  /** Freezes the clock where it is told to stand; it never goes back, so that no timeline does. */
  async function moveClock(
    tx: Queryable,
    tenant: Tenant,
    move: ClockMove,
  ): Promise<{ clock: SandboxClock; now: Date }> {
    const current = clockNow(await deps.clocks.lock(tx, tenant.organisationId), deps.now());
    const at = 'now' in move ? move.now : addDuration(current, move.advance);
    if (at === null || at.getUTCFullYear() > CLOCK_YEAR_MAX) {
      const pointer = 'now' in move ? '/now' : '/advance';
      const detail =
        at === null ? 'Must be an ISO 8601 duration such as P3D.' : `Must not go beyond ${CLOCK_YEAR_MAX}.`;
      throw errors.invalid_request({ errors: [{ pointer, code: 'invalid', detail }] });
    }
    if (at < current) throw errors.clock_backwards({ extra: { current: current.toISOString() } });
    const clock: SandboxClock = { state: 'frozen', at };
    await deps.clocks.set(tx, tenant.organisationId, clock);
    await enqueueJobs(tx, database.schema, [{ name: CLOCK_JOB, payload: { tenantId: tenant.id } }]);
    return { clock, now: at };
  }

  async function releaseClock(tenant: Tenant): Promise<void> {
    await database.transaction(async (tx) => {
      const clock = await deps.clocks.lock(tx, tenant.organisationId);
      if (clock.state !== 'frozen') return;
      const offsetMs = clock.at.getTime() - deps.now().getTime();
      await deps.clocks.set(tx, tenant.organisationId, { state: 'running', offsetMs });
      await enqueueJobs(tx, database.schema, [{ name: CLOCK_JOB, payload: { tenantId: tenant.id } }]);
    });
  }

  async function force(
    tx: Queryable,
    tenant: Tenant,
    id: string,
    { outcome, code }: { outcome: ForcedOutcome; code: string | null },
  ): Promise<Payment> {
    const payment = await deps.getPayment(tenant, id, tx);
    if (outcome === 'notify_of_change') {
      await forceChange(tx, payment, code ?? 'C01');
      return payment;
    }
    const wanted = forcedOutcomes(deps, payment, outcome, code);
    const [locked] = await deps.processing.lockPayments(tx, [{ tenantId: tenant.id, id }]);
    if (!locked || !stateAllows(locked, outcome)) throw conflict(locked ?? payment, outcome);
    await deps.processing.applyOutcomes(tx, wanted);
    const [ordered] = wanted.slice(-1);
    if (ordered?.kind === 'settled') await deps.orderOutcome(tx, locked, { status: 'ACTC' });
    if (ordered?.kind === 'rejected' && ordered.networkCode !== null) {
      await deps.orderOutcome(tx, locked, { status: 'RJCT', code: ordered.networkCode });
    }
    return deps.getPayment(tenant, id, tx);
  }

  async function forceChange(tx: Queryable, payment: Payment, code: string): Promise<void> {
    const underway = payment.status === 'processing' || payment.status === 'completed';
    if (payment.railSelected !== 'ach' || !underway) throw conflict(payment, 'notify_of_change');
    if (!(await deps.notifyOfChange(tx, payment, code.toUpperCase())))
      throw unknownCode('notification of change');
  }

  /** Test money for a balance, as if it had come from outside. */
  async function fund(tx: Queryable, tenant: Tenant, id: string, amount: number): Promise<void> {
    const method = await deps.getBalance(tx, tenant, id);
    const { now } = await readClock(tenant, tx);
    if (amount > AMOUNT_MAX) throw errors.amount_too_large();
    const transfer: Transfer = {
      tenantId: tenant.id,
      id: deps.newId('lt'),
      paymentId: null,
      kind: 'fund',
      rail: null,
      debitAccount: OUTSIDE_SOURCES,
      creditAccount: method.id,
      amount,
      fee: 0,
      createdAt: now,
    };
    await recordTransfers(tx, [transfer]);
  }

  return { readClock, moveClock, releaseClock, force, fund };
}

export type SandboxService = ReturnType<typeof createSandboxService>;

function stateAllows({ status, railSelected }: Payment, outcome: ForcedOutcome): boolean {
  if (outcome === 'return')
    return railSelected === 'ach' && (status === 'processing' || status === 'completed');
  return status === 'pending' || status === 'processing';
}

function conflict({ status, railSelected }: Payment, outcome: ForcedOutcome): Error {
  return errors.state_conflict({
    detail: `A ${status} payment on ${railSelected} does not allow ${outcome}.`,
    extra: { payment_status: status },
  });
}

function unknownCode(what: string): Error {
  const detail = `The networks know no such code of a ${what}.`;
  return errors.invalid_request({ errors: [{ pointer: '/code', code: 'unknown_code', detail }] });
}

function forcedOutcomes(
  deps: SandboxDependencies,
  payment: Payment,
  outcome: Exclude<ForcedOutcome, 'notify_of_change'>,
  code: string | null,
): RailOutcome[] {
  const attempt = payment.attempts.at(-1);
  const key = { tenantId: payment.tenantId, paymentId: payment.id, attemptId: attempt?.id ?? '' };
  const at = payment.updatedAt;
  if (outcome === 'return') {
    if (code === null)
      throw errors.invalid_request({
        errors: [{ pointer: '/code', code: 'required', detail: 'A return needs a code.' }],
      });
    const meaning = deps.returnMeaning(code.toUpperCase());
    if (!meaning) throw unknownCode('return');
    return [{ ...key, kind: 'returned', ...meaning }];
  }
  if (outcome === 'reject') {
    const meaning = deps.rejectMeaning(payment.railSelected, code === null ? null : code.toUpperCase());
    if (!meaning) throw unknownCode('rejection');
    // What is forced is the end of the payment, so no other rail takes over.
    return [{ ...key, kind: 'rejected', ...meaning, mayWorkOnAch: false }];
  }
  return [
    { ...key, kind: 'submitted', reference: `sandbox ${payment.id}`, at },
    { ...key, kind: 'settled', at },
  ];
}
