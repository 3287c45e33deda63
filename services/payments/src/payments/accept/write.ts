import type { Database, Queryable } from '@libs/db';
import { runInTraces, type Trace } from '@libs/runtime';
import type { PaymentsEvent } from '../../events/event.ts';
import type { BalanceKey } from '../../ledger/balance.ts';
import { lockForChange, recordBalanceChanges } from '../../ledger/service.ts';
import { isBalanceAccount } from '../../ledger/transfer.ts';
import type { PaymentMethod } from '../../payment-methods/method.ts';
import type { PaymentMethods } from '../../payment-methods/service.ts';
import type { Subscriptions } from '../../webhooks/endpoint.ts';
import type { SubscriptionService } from '../../webhooks/subscriptions.ts';
import type { PaymentMetrics } from '../metrics.ts';
import type { Payment } from '../payment.ts';
import { lockPayments, refundedAmounts } from '../store.ts';
import type { Acceptance, Claims, Versions } from './acceptance.ts';
import { coveredDrafts, type Originals } from './covered.ts';
import type { Draft, PlacedDraft } from './draft.ts';
import { insertAcceptances } from './insert.ts';
import type { KnownTenants } from './known-tenant.ts';
import type { Repeats } from './repeats.ts';
import { findResponses, isKeyTaken } from './store.ts';

export interface WriteDependencies {
  database: Database;
  paymentMethods: Pick<PaymentMethods, 'insert'>;
  repeats: Repeats;
  subscriptions: Pick<SubscriptionService, 'hasSubscribers' | 'enqueue'>;
  metrics?: Pick<PaymentMetrics, 'accepted'>;
}

export interface Written {
  accepted: { index: number; event: PaymentsEvent }[];
  /** Whose keys were taken by others: these have committed by now, so their responses are there. */
  lost: number[];
  /** What the balances, or the payments to refund, once locked, did not cover. */
  refused: Map<number, unknown>;
  /** Tenants that have changed since they were read: nothing of theirs was written. */
  stale: Set<string>;
}

/**
 * Payments that only meet the world outside are one statement; the others need balances locked and deliveries. Within a
 * transaction of the caller's all of them are written there.
 */
export function writeDrafts(
  deps: WriteDependencies,
  drafts: readonly PlacedDraft[],
  context: { known: KnownTenants; tx: Queryable | null },
): Promise<Written> {
  return runInTraces(tracesOf(drafts), () => write(deps, drafts, context));
}

async function write(
  deps: WriteDependencies,
  drafts: readonly PlacedDraft[],
  { known, tx }: { known: KnownTenants; tx: Queryable | null },
): Promise<Written> {
  const written: Written = { accepted: [], lost: [], refused: new Map(), stale: new Set() };
  const subscriptions = new Map([...known].map(([id, tenant]) => [id, tenant.subscriptions]));
  const versions = new Map([...known].map(([id, tenant]) => [id, tenant.version]));
  const writing = { subscriptions, versions, written };
  if (tx) {
    sort(await writeCarefully(deps, tx, drafts, writing), written);
    count(deps, tx, drafts, written);
    return written;
  }
  const { plain = [], careful = [] } = Object.groupBy(drafts, (draft) =>
    needsCare(deps, draft, subscriptions) ? 'careful' : 'plain',
  );
  // One after the other: side by side they could wait for each other's keys.
  if (plain.length > 0) {
    const acceptances = plain.map((draft) => draft.acceptance);
    const claims = await insertPlain(deps, acceptances, versions);
    sort({ drafts: plain, claims }, written);
  }
  if (careful.length > 0) {
    const carefully = (own: Queryable) => writeCarefully(deps, own, careful, writing);
    sort(await deps.database.transaction(carefully), written);
  }
  count(deps, deps.database, drafts, written);
  return written;
}

function count(
  { metrics }: WriteDependencies,
  db: Queryable,
  drafts: readonly PlacedDraft[],
  { accepted }: Written,
): void {
  if (metrics === undefined) return;
  const places = new Set(accepted.map(({ index }) => index));
  const written = drafts.filter(({ index }) => places.has(index));
  metrics.accepted(
    db,
    written.map(({ acceptance }) => acceptance.payment),
  );
}

async function insertPlain(
  { database, repeats }: Pick<WriteDependencies, 'database' | 'repeats'>,
  acceptances: readonly Acceptance[],
  versions: Versions,
): Promise<Claims> {
  if (!repeats.areExpected) {
    try {
      const claims = await insertAcceptances(database, acceptances, { versions, keys: 'new' });
      repeats.noteBatch({ hadRepeats: false });
      return claims;
    } catch (error) {
      if (!isKeyTaken(error)) throw error;
    }
  }
  const claims = await insertAcceptances(database, acceptances, { versions });
  const isAllNew = acceptances.every(
    ({ event }) => claims.claimed.has(event.id) || claims.stale.has(event.tenantId),
  );
  repeats.noteBatch({ hadRepeats: !isAllNew });
  return claims;
}

function needsCare(
  deps: WriteDependencies,
  { acceptance: { payment, event }, newMethods }: Draft,
  subscriptions: Subscriptions,
): boolean {
  return (
    newMethods.length > 0 ||
    payment.refundOf !== null ||
    isBalanceAccount(payment.debitAccount) ||
    isBalanceAccount(payment.creditAccount) ||
    deps.subscriptions.hasSubscribers(subscriptions, event)
  );
}

interface Claimed {
  drafts: readonly PlacedDraft[];
  claims: Claims;
}

function sort({ drafts, claims: { claimed, stale } }: Claimed, written: Written): void {
  for (const tenantId of stale) written.stale.add(tenantId);
  for (const { index, acceptance } of drafts) {
    const { event } = acceptance;
    if (claimed.has(event.id)) written.accepted.push({ index, event });
    else if (!stale.has(event.tenantId)) written.lost.push(index);
  }
}

interface Writing {
  subscriptions: Subscriptions;
  versions: Versions;
  written: Written;
}

/** Locks in the order that everyone keeps: payments, balances, tenants. */
async function writeCarefully(
  deps: WriteDependencies,
  tx: Queryable,
  drafts: readonly PlacedDraft[],
  { subscriptions, versions, written }: Writing,
): Promise<Claimed> {
  const originals = await lockOriginals(tx, drafts);
  const balances = await lockForChange(tx, balancesOf(drafts));
  const taken = await takenKeys(tx, drafts);
  const covered = coveredDrafts(drafts, { taken, originals, balances, written });
  if (covered.length === 0) return { drafts: covered, claims: nothingClaimed };
  const acceptances = covered.map((draft) => draft.acceptance);
  const claims = await insertAcceptances(tx, acceptances, { versions });
  const accepted = covered.filter(({ acceptance }) => claims.claimed.has(acceptance.event.id));
  await recordBalanceChanges(
    tx,
    accepted.map(({ acceptance }) => acceptance.hold),
  );
  const methodEvents = await deps.paymentMethods.insert(tx, distinctMethods(accepted));
  const paymentEvents = accepted.map(({ acceptance }) => acceptance.event);
  await deps.subscriptions.enqueue(tx, [...methodEvents, ...paymentEvents], subscriptions);
  return { drafts: covered, claims };
}

const nothingClaimed: Claims = { claimed: new Set(), stale: new Set() };

/** Under which trace an object comes to be. */
function tracesOf(drafts: readonly PlacedDraft[]): Map<string, Trace> {
  const traces = new Map<string, Trace>();
  for (const { acceptance, newMethods } of drafts) {
    if (acceptance.trace === undefined) continue;
    for (const { id } of [...newMethods, acceptance.payment]) traces.set(id, acceptance.trace);
  }
  return traces;
}

function distinctMethods(drafts: readonly PlacedDraft[]): PaymentMethod[] {
  const methods = new Map<string, PaymentMethod>();
  for (const { newMethods } of drafts) {
    for (const method of newMethods) methods.set(`${method.tenantId} ${method.id}`, method);
  }
  return [...methods.values()];
}

/** The payments that drafts refund, locked, by tenant and id. */
async function lockOriginals(tx: Queryable, drafts: readonly PlacedDraft[]): Promise<Originals> {
  const keys = new Map(
    drafts.flatMap(({ acceptance: { payment } }) => {
      const { tenantId, refundOf } = payment;
      return refundOf === null ? [] : [[`${tenantId} ${refundOf}`, { tenantId, id: refundOf }] as const];
    }),
  );
  if (keys.size === 0) return new Map();
  const locked = await lockPayments(tx, [...keys.values()]);
  // What was refunded is read once they are locked: the look that waited for the lock is from before.
  const refunded = await refundedAmounts(tx, [...keys.values()]);
  const originals = new Map<string, Payment>();
  for (const payment of locked) {
    const key = `${payment.tenantId} ${payment.id}`;
    originals.set(key, { ...payment, refundedAmount: refunded.get(key) ?? 0 });
  }
  return originals;
}

function balancesOf(drafts: readonly PlacedDraft[]): BalanceKey[] {
  return drafts.flatMap(({ acceptance: { hold } }) =>
    [hold.debitAccount, hold.creditAccount]
      .filter(isBalanceAccount)
      .map((paymentMethodId) => ({ tenantId: hold.tenantId, paymentMethodId })),
  );
}

async function takenKeys(tx: Queryable, drafts: readonly PlacedDraft[]): Promise<Set<string>> {
  const lookups = drafts
    .filter(
      ({ acceptance: { payment } }) => payment.refundOf !== null || isBalanceAccount(payment.debitAccount),
    )
    .map(({ acceptance: { payment, path, key } }) => ({ tenantId: payment.tenantId, path, key }));
  if (lookups.length === 0) return new Set();
  const found = await findResponses(tx, lookups);
  return new Set(found.map(({ tenantId, path, key }) => `${tenantId} ${path} ${key}`));
}
