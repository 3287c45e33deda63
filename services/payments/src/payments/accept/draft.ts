import type { Trace } from '@libs/runtime';
import { clockNow, realClock } from '../../clock/clock.ts';
import { isoTime } from '../../clock/iso-time.ts';
import { errors } from '../../errors.ts';
import { OUTSIDE_DESTINATIONS, OUTSIDE_SOURCES } from '../../ledger/transfer.ts';
import type { PaymentMethod } from '../../payment-methods/method.ts';
import type { PaymentMethods } from '../../payment-methods/service.ts';
import type { Decided, Preference } from '../../routing/decision.ts';
import type { Routing } from '../../routing/service.ts';
import { type Tenant, tenantOf } from '../../tenant.ts';
import { eventOf, transferOf } from '../moves.ts';
import { newAttempt } from '../outcomes.ts';
import { type Payment, type RailChoice, toApi } from '../payment.ts';
import { refundRefusal } from '../refund.ts';
import { routingRefusal } from '../refusals.ts';
import type { Acceptance } from './acceptance.ts';
import type { KnownTenant, MethodSummary } from './known-tenant.ts';

export interface PaymentInput {
  amount: number;
  currency: string;
  sourceId: string;
  destinationId: string;
  rail: RailChoice;
  prefer: Preference;
  fallback: boolean;
  description: string | null;
  metadata: Readonly<Record<string, string>>;
}

export interface AcceptRequest {
  tenant: Tenant;
  /** Keys belong to the address that they were sent to. */
  path: string;
  key: string;
  /** The body as the one text that every equal body has. */
  canonicalBody: string;
  input: PaymentInput;
  /** The payment that this one gives back, as it was when the request came. */
  refundOf: Payment | null;
  /** Who asked for it, where the caller says so. */
  trace?: Trace | undefined;
}

export interface DraftDependencies {
  routing: Pick<Routing, 'decide'>;
  now: () => Date;
  newId: (prefix: string) => string;
  paymentMethods: Pick<PaymentMethods, 'atFirstUse'>;
}

export interface Draft {
  acceptance: Acceptance;
  newMethods: readonly PaymentMethod[];
}

/** A draft and the place of its request in the batch. */
export interface PlacedDraft extends Draft {
  index: number;
}

/** The sandbox was reset after the caller was recognised: the payment belongs to the tenant that test mode is now. */
export class TenantMoved extends Error {
  override readonly name = 'TenantMoved';
  readonly tenant: Tenant;

  constructor(tenant: Tenant) {
    super(`test mode goes on as ${tenant.id}`);
    this.tenant = tenant;
  }
}

/** The decided payment with its event and its hold; throws the refusal where it cannot be accepted. */
export function draftPayment(deps: DraftDependencies, request: AcceptRequest, known: KnownTenant): Draft {
  const { tenant, input, refundOf } = request;
  if (tenant.mode === 'test' && tenant.epoch !== known.testEpoch) {
    throw new TenantMoved(tenantOf(tenant.organisationId, 'test', known.testEpoch));
  }
  const refusal = refundOf && refundRefusal(refundOf, input.amount);
  if (refusal) throw refusal;
  const realNow = deps.now();
  const at = clockNow(tenant.mode === 'test' ? known.clock : realClock, realNow);
  const isRefund = refundOf !== null;
  const resolved = resolveMethods(deps, { tenant, input, methods: known.methods, at, isRefund });
  const { source, destination } = resolved;
  const only = input.rail === 'auto' ? null : input.rail;
  const request_ = { mode: tenant.mode, amount: input.amount, source, destination, at };
  const decided = deps.routing.decide({ ...request_, prefer: input.prefer, only });
  if (!decided.ok) throw routingRefusal(decided.candidates, only, tenant.mode);
  const payment = newPayment(deps, {
    ...{ tenant, input, decided, source, destination, at },
    refundOf: refundOf?.id ?? null,
  });
  const context = { at, realNow, newId: deps.newId };
  return {
    newMethods: resolved.created,
    acceptance: {
      path: request.path,
      key: request.key,
      canonicalBody: request.canonicalBody,
      payment,
      event: eventOf(payment, 'payment.pending', JSON.stringify(toApi(payment)), context),
      hold: transferOf(payment, 'hold', context),
      trace: request.trace,
    },
  };
}

interface Resolving {
  tenant: Tenant;
  input: Pick<PaymentInput, 'sourceId' | 'destinationId'>;
  /** By id. */
  methods: ReadonlyMap<string, MethodSummary>;
  at: Date;
  /** The body of a refund names no payment method, so none of its fields is to blame. */
  isRefund?: boolean;
}

export function resolveMethods(
  deps: Pick<DraftDependencies, 'paymentMethods'>,
  { tenant, input, methods, at, isRefund = false }: Resolving,
) {
  const created: PaymentMethod[] = [];
  const missing: { pointer: string; code: string; detail: string }[] = [];
  const resolve = (id: string, pointer: string): MethodSummary | undefined => {
    const stored = methods.get(id);
    if (stored && !stored.isDeleted) return stored;
    const made = stored ? undefined : deps.paymentMethods.atFirstUse({ tenantId: tenant.id, id }, tenant, at);
    if (made) {
      created.push(made);
      return { ...made, isDeleted: false };
    }
    missing.push({ pointer, code: 'payment_method_not_found', detail: `There is no payment method ${id}.` });
    return undefined;
  };
  const source = resolve(input.sourceId, '/source/payment_method_id');
  const destination = resolve(input.destinationId, '/destination/payment_method_id');
  if (!source || !destination) {
    const detail = missing.map((one) => one.detail).join(' ');
    throw errors.payment_method_not_found(isRefund ? { detail } : { errors: missing });
  }
  return { source, destination, created };
}

interface NewPayment {
  tenant: Tenant;
  input: PaymentInput;
  decided: Decided;
  source: MethodSummary;
  destination: MethodSummary;
  at: Date;
  refundOf: string | null;
}

function newPayment(
  deps: Pick<DraftDependencies, 'newId'>,
  { tenant, input, decided, source, destination, at, refundOf }: NewPayment,
): Payment {
  return {
    tenantId: tenant.id,
    mode: tenant.mode,
    id: deps.newId('pay'),
    status: 'pending',
    amount: input.amount,
    currency: input.currency,
    sourceId: source.id,
    destinationId: destination.id,
    debitAccount: source.type === 'balance' ? source.id : OUTSIDE_SOURCES,
    creditAccount: destination.type === 'balance' ? destination.id : OUTSIDE_DESTINATIONS,
    rail: input.rail,
    railSelected: decided.decision.chosen,
    fallback: input.fallback,
    railDecision: decided.decision,
    attempts: [newAttempt(deps.newId('att'), decided.decision.chosen)],
    timeline: [{ status: 'pending', timestamp: isoTime(at) }],
    failure: null,
    feeAmount: decided.option.fee,
    refundOf,
    refundedAmount: 0,
    description: input.description,
    metadata: input.metadata,
    estimatedSettlementAt: decided.option.settlesAt,
    createdAt: at,
    updatedAt: at,
  };
}
