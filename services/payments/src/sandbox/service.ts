import type { Database, Queryable } from '@libs/db';
import { enqueueJobs } from '@libs/jobs';
import type { FieldError } from '@libs/runtime';
import { clockNow, type SandboxClock } from '../clock/clock.ts';
import type { Clocks } from '../clock/service.ts';
import { errors } from '../errors.ts';
import { recordTransfers } from '../ledger/service.ts';
import { OUTSIDE_SOURCES, type Transfer } from '../ledger/transfer.ts';
import type { PaymentMethod } from '../payment-methods/method.ts';
import { refuseTooLarge } from '../payments/amount.ts';
import type { Payment } from '../payments/payment.ts';
import type { Processing } from '../payments/processing.ts';
import type { ForcedMeaning, ForcedOutcome, RailWork } from '../rails/rail.ts';
import type { Rails } from '../rails/service.ts';
import type { Tenant } from '../tenant.ts';
import { addDuration } from './duration.ts';

/** How far the clock may be ahead of real time: beyond it calendars and the years of two digits in files give out. */
export const CLOCK_AHEAD_YEARS_MAX = 10;

/** In the words of the refusal itself: the dashboard shows them at the field. */
const TOO_FAR = {
  code: 'clock_too_far',
  detail: 'The sandbox clock may be at most ten years ahead of real time.',
};
const BACKWARDS = { code: 'clock_backwards', detail: 'The sandbox clock only goes forward.' };

export type ClockMove = { now: Date } | { advance: string };

export interface SandboxDependencies {
  database: Database;
  processing: Processing;
  clocks: Clocks;
  now: () => Date;
  newId: (prefix: string) => string;
  getPayment: (tenant: Tenant, id: string, db?: Queryable) => Promise<Payment>;
  rails: Pick<RailWork, 'force' | 'lockFor' | 'whenClockMoves'>;
  meaningOf: Rails['meaningOf'];
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
    if (at === null) throw new Error('The schema let a duration through that is none.');
    const latest = addDuration(deps.now(), `P${CLOCK_AHEAD_YEARS_MAX}Y`);
    if (latest !== null && at > latest)
      throw errors.clock_too_far({
        extra: { latest: latest.toISOString() },
        errors: fieldsOf(move, TOO_FAR),
      });
    if (at < current)
      throw errors.clock_backwards({
        extra: { current: current.toISOString() },
        errors: fieldsOf(move, BACKWARDS),
      });
    const clock: SandboxClock = { state: 'frozen', at };
    const moved = await deps.clocks.set(tx, tenant.organisationId, clock);
    await enqueueJobs(tx, database.schema, deps.rails.whenClockMoves(moved.id));
    return { clock, now: at };
  }

  async function releaseClock(tenant: Tenant): Promise<void> {
    await database.transaction(async (tx) => {
      const clock = await deps.clocks.lock(tx, tenant.organisationId);
      if (clock.state !== 'frozen') return;
      const offsetMs = clock.at.getTime() - deps.now().getTime();
      const released = await deps.clocks.set(tx, tenant.organisationId, { state: 'running', offsetMs });
      await enqueueJobs(tx, database.schema, deps.rails.whenClockMoves(released.id));
    });
  }

  /** Goes through the same door as the networks' answers, so the state table decides what is possible. */
  async function force(
    tx: Queryable,
    tenant: Tenant,
    id: string,
    { outcome, code }: { outcome: ForcedOutcome; code: string | null },
  ): Promise<Payment> {
    const payment = await deps.getPayment(tenant, id, tx);
    const known = deps.meaningOf(payment.railSelected, outcome, code?.toUpperCase() ?? null);
    if (!known.ok) throw refusal(known.reason, payment, outcome);
    await deps.rails.lockFor(tx, payment);
    const [locked] = await deps.processing.lockPayments(tx, [{ tenantId: tenant.id, id }]);
    if (!locked || !stateAllows(locked, outcome)) throw conflict(locked ?? payment, outcome);
    const at = (await deps.clocks.timesOf(tx, [tenant.id])).at(tenant.id);
    const outcomes = await deps.rails.force(tx, locked, { outcome, meaning: known.meaning, at });
    await deps.processing.applyOutcomes(tx, outcomes);
    return deps.getPayment(tenant, id, tx);
  }

  /** Test money for a balance, as if it had come from outside. */
  async function fund(tx: Queryable, tenant: Tenant, id: string, amount: number): Promise<void> {
    const method = await deps.getBalance(tx, tenant, id);
    const { now } = await readClock(tenant, tx);
    refuseTooLarge(amount);
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

/** The field that the move was told by. */
function fieldsOf(move: ClockMove, fault: Pick<FieldError, 'code' | 'detail'>): FieldError[] {
  return [{ pointer: 'now' in move ? '/now' : '/advance', ...fault }];
}

/** What happens after an entry has left may also happen after the payment is completed. */
function stateAllows({ status }: Payment, outcome: ForcedOutcome): boolean {
  if (outcome === 'return' || outcome === 'notify_of_change')
    return status === 'processing' || status === 'completed';
  return status === 'pending' || status === 'processing';
}

function conflict({ status, railSelected }: Payment, outcome: ForcedOutcome): Error {
  return errors.state_conflict({
    detail: `A ${status} payment on ${railSelected} does not allow ${outcome}.`,
    extra: { payment_status: status },
  });
}

function refusal(
  reason: Extract<ForcedMeaning, { ok: false }>['reason'],
  payment: Payment,
  outcome: ForcedOutcome,
): Error {
  if (reason === 'not_on_this_rail') return conflict(payment, outcome);
  const [code, detail] =
    reason === 'code_required'
      ? ['required', `To ${outcome} a payment needs a code.`]
      : ['unknown_code', `${payment.railSelected} knows no such code for ${outcome}.`];
  return errors.invalid_request({ errors: [{ pointer: '/code', code, detail }] });
}
