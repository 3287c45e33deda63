import { createBatcher, type Database, type Outcome, type Queryable } from '@libs/db';
import { errors } from '../errors.ts';
import type { PaymentsEvent } from '../events/event.ts';
import { lockBalances, recordBalanceChanges } from '../ledger/service.ts';
import {
  isBalanceAccount,
  OUTSIDE_DESTINATIONS,
  OUTSIDE_SOURCES,
  type Transfer,
} from '../ledger/transfer.ts';
import type { MethodKey, PaymentMethod } from '../payment-methods/method.ts';
import type { Decided, Preference } from '../routing/decision.ts';
import type { Routing } from '../routing/service.ts';
import { clockNow, realClock, type SandboxClock } from '../sandbox/clock.ts';
import type { Tenant } from '../tenant.ts';
import type { Subscriptions } from '../webhooks/endpoint.ts';
import {
  ACCEPT_PATH,
  ACCEPT_STATUS,
  type Acceptance,
  type AcceptQuestion,
  findAcceptContext,
  findResponses,
  insertAccepted,
  type KeyLookup,
  type MethodSummary,
  type StoredResponse,
} from './accept-store.ts';
import { eventOf, transferOf } from './moves.ts';
import { newAttempt } from './outcomes.ts';
import { type Payment, type RailChoice, toApi } from './payment.ts';
import { routingRefusal } from './refusals.ts';

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
  key: string;
  fingerprint: Buffer;
  input: PaymentInput;
}

/** The response as it went out the first time; `replayed` says that this is not the first time. */
export interface AcceptResponse {
  status: number;
  body: string;
  replayed: boolean;
}

/** A payment method as the sandbox makes it at the first use of its id, or undefined where it must exist. */
export type MethodAtFirstUse = (key: MethodKey, tenant: Tenant, at: Date) => PaymentMethod | undefined;

export interface AcceptDependencies {
  database: Database;
  routing: Routing;
  now: () => Date;
  newId: (prefix: string) => string;
  findMethods: (db: Queryable, keys: readonly MethodKey[]) => Promise<PaymentMethod[]>;
  methodAtFirstUse: MethodAtFirstUse;
  /** Stores methods made at first use, with their events; answers those events. */
  insertMethods: (tx: Queryable, methods: readonly PaymentMethod[]) => Promise<PaymentsEvent[]>;
  hasSubscribers: (subscriptions: Subscriptions, event: PaymentsEvent) => boolean;
  enqueueDeliveries: (
    tx: Queryable,
    events: readonly PaymentsEvent[],
    subscriptions: Subscriptions,
  ) => Promise<void>;
}

const BATCH_MAX = 200;
const BATCHES_AT_ONCE = 2;
const QUEUE_MAX = 10_000;

/** Accepts payments: those that wait together are read, decided and written together, with one commit. */
export function createAcceptance(deps: AcceptDependencies) {
  const run = (requests: readonly AcceptRequest[]) => acceptBatch(deps, requests);
  return createBatcher<AcceptRequest, AcceptResponse>({
    run,
    batchMax: BATCH_MAX,
    concurrency: BATCHES_AT_ONCE,
    queueMax: QUEUE_MAX,
    onOverflow: () => errors.overloaded({ retryAfterSeconds: 1 }),
  });
}

interface Drafted {
  index: number;
  acceptance: Acceptance;
  newMethods: readonly PaymentMethod[];
}

async function acceptBatch(
  deps: AcceptDependencies,
  requests: readonly AcceptRequest[],
): Promise<Outcome<AcceptResponse>[]> {
  const { methods, clocks, subscriptions, ...found } = await findAcceptContext(
    deps.database,
    questionOf(requests),
  );
  const known = new Map(found.known.map((stored) => [`${stored.tenantId} ${stored.key}`, stored]));
  const methodsByKey = new Map(methods.map((method) => [`${method.tenantId} ${method.id}`, method]));
  const outcomes: Outcome<AcceptResponse>[] = [];
  const drafts: Drafted[] = [];
  for (const [index, request] of requests.entries()) {
    const stored = known.get(keyOf(request));
    if (stored) {
      outcomes[index] = replay(request, stored);
      continue;
    }
    try {
      drafts.push({ index, ...draft(deps, request, methodsByKey, clocks) });
    } catch (error) {
      outcomes[index] = { ok: false, error };
    }
  }
  await write(deps, { requests, drafts, outcomes, subscriptions });
  return outcomes;
}

function toLookup({ tenant, key }: AcceptRequest): KeyLookup {
  return { tenantId: tenant.id, path: ACCEPT_PATH, key };
}

function keyOf({ tenant, key }: AcceptRequest): string {
  return `${tenant.id} ${key}`;
}

async function findKnown(
  db: Queryable,
  requests: readonly AcceptRequest[],
): Promise<Map<string, StoredResponse>> {
  const found = await findResponses(db, requests.map(toLookup));
  return new Map(found.map((stored) => [`${stored.tenantId} ${stored.key}`, stored]));
}

function replay(request: AcceptRequest, stored: StoredResponse): Outcome<AcceptResponse> {
  if (!stored.fingerprint.equals(request.fingerprint)) {
    return { ok: false, error: errors.idempotency_key_reused() };
  }
  return { ok: true, value: { status: stored.status, body: stored.body, replayed: true } };
}

type Methods = ReadonlyMap<string, MethodSummary>;

function questionOf(requests: readonly AcceptRequest[]): AcceptQuestion {
  const methods = new Map<string, MethodKey>();
  const tenants = new Map<string, Tenant>();
  for (const { tenant, input } of requests) {
    tenants.set(tenant.id, tenant);
    for (const id of [input.sourceId, input.destinationId]) {
      methods.set(`${tenant.id} ${id}`, { tenantId: tenant.id, id });
    }
  }
  return { lookups: requests.map(toLookup), methods: [...methods.values()], tenants: [...tenants.values()] };
}

/** The decided payment with its event and its hold; throws the refusal where it cannot be accepted. */
function draft(
  deps: AcceptDependencies,
  request: AcceptRequest,
  methods: Methods,
  clocks: ReadonlyMap<string, SandboxClock>,
): Omit<Drafted, 'index'> {
  const { tenant, input } = request;
  const realNow = deps.now();
  const clock = tenant.mode === 'test' ? (clocks.get(tenant.organisationId) ?? realClock) : realClock;
  const at = clockNow(clock, realNow);
  const resolved = resolveMethods(deps, { tenant, input, methods, at });
  const { source, destination } = resolved;
  const only = input.rail === 'auto' ? null : input.rail;
  const request_ = { mode: tenant.mode, amount: input.amount, source, destination, at };
  const decided = deps.routing.decide({ ...request_, prefer: input.prefer, only });
  if (!decided.ok) throw routingRefusal(decided.candidates, only, tenant.mode);
  const payment = newPayment(deps, { tenant, input, decided, source, destination, at });
  const context = { at, realNow, newId: deps.newId };
  return {
    newMethods: resolved.created,
    acceptance: {
      key: request.key,
      fingerprint: request.fingerprint,
      payment,
      event: eventOf(payment, 'payment.pending', JSON.stringify(toApi(payment)), context),
      hold: transferOf(payment, 'hold', context),
    },
  };
}

interface Resolving {
  tenant: Tenant;
  input: Pick<PaymentInput, 'sourceId' | 'destinationId'>;
  methods: Methods;
  at: Date;
}

export function resolveMethods(
  deps: { methodAtFirstUse: MethodAtFirstUse },
  { tenant, input, methods, at }: Resolving,
) {
  const created: PaymentMethod[] = [];
  const missing: { pointer: string; code: string; detail: string }[] = [];
  const resolve = (id: string, pointer: string): MethodSummary | undefined => {
    const stored = methods.get(`${tenant.id} ${id}`);
    if (stored && !stored.isDeleted) return stored;
    const made = stored ? undefined : deps.methodAtFirstUse({ tenantId: tenant.id, id }, tenant, at);
    if (made) {
      created.push(made);
      return { ...made, isDeleted: false };
    }
    missing.push({ pointer, code: 'payment_method_not_found', detail: `There is no payment method ${id}.` });
    return undefined;
  };
  const source = resolve(input.sourceId, '/source/payment_method_id');
  const destination = resolve(input.destinationId, '/destination/payment_method_id');
  if (!source || !destination) throw errors.payment_method_not_found({ errors: missing });
  return { source, destination, created };
}

interface NewPayment {
  tenant: Tenant;
  input: PaymentInput;
  decided: Decided;
  source: MethodSummary;
  destination: MethodSummary;
  at: Date;
}

function newPayment(
  deps: { newId: (prefix: string) => string },
  { tenant, input, decided, source, destination, at }: NewPayment,
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
    timeline: [{ status: 'pending', timestamp: at.toISOString() }],
    failure: null,
    feeAmount: decided.option.fee,
    description: input.description,
    metadata: input.metadata,
    estimatedSettlementAt: decided.option.settlesAt,
    createdAt: at,
    updatedAt: at,
  };
}

interface Writing {
  requests: readonly AcceptRequest[];
  drafts: readonly Drafted[];
  outcomes: Outcome<AcceptResponse>[];
  subscriptions: Subscriptions;
}

/** Payments that only meet the world outside are one statement; the others need balances locked and deliveries. */
async function write(
  deps: AcceptDependencies,
  { requests, drafts, outcomes, subscriptions }: Writing,
): Promise<void> {
  const plain: Drafted[] = [];
  const careful: Drafted[] = [];
  for (const drafted of drafts) {
    const { payment, event } = drafted.acceptance;
    const needsMore =
      drafted.newMethods.length > 0 ||
      isBalanceAccount(payment.debitAccount) ||
      isBalanceAccount(payment.creditAccount) ||
      deps.hasSubscribers(subscriptions, event);
    (needsMore ? careful : plain).push(drafted);
  }
  // One after the other: side by side they could wait for each other's keys.
  const claims: Set<string>[] = [];
  if (plain.length > 0)
    claims.push(
      await insertAccepted(
        deps.database,
        plain.map((drafted) => drafted.acceptance),
      ),
    );
  if (careful.length > 0) claims.push(await writeCarefully(deps, careful, subscriptions, outcomes));
  const lost: number[] = [];
  for (const { index, acceptance } of drafts) {
    if (outcomes[index]) continue;
    const { event } = acceptance;
    if (claims.some((claimed) => claimed.has(event.id))) {
      outcomes[index] = { ok: true, value: { status: ACCEPT_STATUS, body: event.data, replayed: false } };
    } else lost.push(index);
  }
  await answerLost(deps.database, requests, lost, outcomes);
}

/** Another request took the key first: it has committed by now, so its response is there. */
async function answerLost(
  db: Queryable,
  requests: readonly AcceptRequest[],
  lost: readonly number[],
  outcomes: Outcome<AcceptResponse>[],
): Promise<void> {
  if (lost.length === 0) return;
  const known = await findKnown(
    db,
    lost.map((index) => requests[index] as AcceptRequest),
  );
  for (const index of lost) {
    const request = requests[index] as AcceptRequest;
    const stored = known.get(keyOf(request));
    outcomes[index] = stored
      ? replay(request, stored)
      : { ok: false, error: errors.idempotency_key_in_use({ retryAfterSeconds: 1 }) };
  }
}

async function writeCarefully(
  deps: AcceptDependencies,
  drafts: readonly Drafted[],
  subscriptions: Subscriptions,
  outcomes: Outcome<AcceptResponse>[],
): Promise<Set<string>> {
  return deps.database.transaction(async (tx) => {
    const covered = await refuseUncovered(deps, tx, drafts, outcomes);
    if (covered.length === 0) return new Set<string>();
    const claimed = await insertAccepted(
      tx,
      covered.map((drafted) => drafted.acceptance),
    );
    const accepted = covered.filter(({ acceptance }) => claimed.has(acceptance.event.id));
    await recordBalanceChanges(
      tx,
      accepted.map(({ acceptance }) => acceptance.hold),
    );
    const methodEvents = await deps.insertMethods(tx, distinctMethods(accepted));
    const paymentEvents = accepted.map(({ acceptance }) => acceptance.event);
    await deps.enqueueDeliveries(tx, [...methodEvents, ...paymentEvents], subscriptions);
    return claimed;
  });
}

/** In one order, whoever writes, so that two batches with the same new methods never wait in a ring. */
function distinctMethods(drafts: readonly Drafted[]): PaymentMethod[] {
  const methods = new Map<string, PaymentMethod>();
  for (const { newMethods } of drafts) {
    for (const method of newMethods) methods.set(`${method.tenantId} ${method.id}`, method);
  }
  return [...methods.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, method]) => method);
}

/** With the balances locked, decides in order of arrival which payments they still cover. */
async function refuseUncovered(
  deps: Pick<AcceptDependencies, 'findMethods'>,
  tx: Queryable,
  drafts: readonly Drafted[],
  outcomes: Outcome<AcceptResponse>[],
): Promise<Drafted[]> {
  const holds: Transfer[] = drafts.map(({ acceptance }) => acceptance.hold);
  const keys = holds.flatMap(({ tenantId, debitAccount, creditAccount }) =>
    [debitAccount, creditAccount]
      .filter(isBalanceAccount)
      .map((paymentMethodId) => ({ tenantId, paymentMethodId })),
  );
  const balances = await lockBalances(tx, keys);
  // A balance may have been deleted since it was read; nobody can delete it while it is locked.
  const methods = await deps.findMethods(
    tx,
    keys.map(({ tenantId, paymentMethodId }) => ({ tenantId, id: paymentMethodId })),
  );
  const deleted = new Set(
    methods.filter((method) => method.deletedAt !== null).map((method) => `${method.tenantId} ${method.id}`),
  );
  const available = new Map(
    balances.map((balance) => [
      `${balance.tenantId} ${balance.paymentMethodId}`,
      balance.posted - balance.held,
    ]),
  );
  return drafts.filter(({ index, acceptance: { hold } }) => {
    if (
      deleted.has(`${hold.tenantId} ${hold.debitAccount}`) ||
      deleted.has(`${hold.tenantId} ${hold.creditAccount}`)
    ) {
      outcomes[index] = { ok: false, error: errors.payment_method_not_found() };
      return false;
    }
    if (!isBalanceAccount(hold.debitAccount)) return true;
    const account = `${hold.tenantId} ${hold.debitAccount}`;
    const left = available.get(account) ?? 0;
    if (left < hold.amount) {
      outcomes[index] = {
        ok: false,
        error: errors.insufficient_funds({ extra: { available: Math.max(0, left) } }),
      };
      return false;
    }
    available.set(account, left - hold.amount);
    return true;
  });
}
