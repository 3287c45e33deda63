import type { Database, Queryable } from '@libs/db';
import { errors } from '../../errors.ts';
import type { PaymentsEvent } from '../../events/event.ts';
import { lockBalances, recordBalanceChanges } from '../../ledger/service.ts';
import { isBalanceAccount } from '../../ledger/transfer.ts';
import type { PaymentMethod } from '../../payment-methods/method.ts';
import type { PaymentMethods } from '../../payment-methods/service.ts';
import type { Subscriptions } from '../../webhooks/endpoint.ts';
import type { SubscriptionService } from '../../webhooks/subscriptions.ts';
import type { Draft } from './draft.ts';
import type { KnownTenants } from './known-tenant.ts';
import { ACCEPT_PATH, type Claims, findResponses, insertAccepted, type Versions } from './store.ts';

export interface WriteDependencies {
  database: Database;
  paymentMethods: Pick<PaymentMethods, 'find' | 'insert'>;
  subscriptions: Pick<SubscriptionService, 'hasSubscribers' | 'enqueue'>;
}

/** A draft and the place of its request in the batch. */
export interface PlacedDraft extends Draft {
  index: number;
}

export interface Written {
  accepted: { index: number; event: PaymentsEvent }[];
  /** Whose keys were taken by others: these have committed by now, so their responses are there. */
  lost: number[];
  /** What the balances, once locked, did not cover. */
  refused: Map<number, unknown>;
  /** Tenants that have changed since they were read: nothing of theirs was written. */
  stale: Set<string>;
}

/** Payments that only meet the world outside are one statement; the others need balances locked and deliveries. */
export async function writeDrafts(
  deps: WriteDependencies,
  drafts: readonly PlacedDraft[],
  known: KnownTenants,
): Promise<Written> {
  const written: Written = { accepted: [], lost: [], refused: new Map(), stale: new Set() };
  const subscriptions = new Map([...known].map(([id, tenant]) => [id, tenant.subscriptions]));
  const versions = new Map([...known].map(([id, tenant]) => [id, tenant.version]));
  const { plain = [], careful = [] } = Object.groupBy(drafts, (draft) =>
    needsCare(deps, draft, subscriptions) ? 'careful' : 'plain',
  );
  // One after the other: side by side they could wait for each other's keys.
  if (plain.length > 0) {
    const acceptances = plain.map((draft) => draft.acceptance);
    sort(plain, await insertAccepted(deps.database, acceptances, versions), written);
  }
  if (careful.length > 0) await writeCarefully(deps, careful, { subscriptions, versions, written });
  return written;
}

function needsCare(
  deps: WriteDependencies,
  { acceptance: { payment, event }, newMethods }: Draft,
  subscriptions: Subscriptions,
): boolean {
  return (
    newMethods.length > 0 ||
    isBalanceAccount(payment.debitAccount) ||
    isBalanceAccount(payment.creditAccount) ||
    deps.subscriptions.hasSubscribers(subscriptions, event)
  );
}

function sort(drafts: readonly PlacedDraft[], { claimed, stale }: Claims, written: Written): void {
  for (const tenantId of stale) written.stale.add(tenantId);
  for (const { index, acceptance } of drafts) {
    const { event } = acceptance;
    if (claimed.has(event.id)) written.accepted.push({ index, event });
    else if (!stale.has(event.tenantId)) written.lost.push(index);
  }
}

interface Careful {
  subscriptions: Subscriptions;
  versions: Versions;
  written: Written;
}

async function writeCarefully(
  deps: WriteDependencies,
  drafts: readonly PlacedDraft[],
  { subscriptions, versions, written }: Careful,
): Promise<void> {
  const { covered, claims } = await deps.database.transaction(async (tx) => {
    const covered = await coveredDrafts(deps, tx, drafts, written);
    if (covered.length === 0) return { covered, claims: nothingClaimed };
    const claims = await insertAccepted(
      tx,
      covered.map((draft) => draft.acceptance),
      versions,
    );
    const accepted = covered.filter(({ acceptance }) => claims.claimed.has(acceptance.event.id));
    await recordBalanceChanges(
      tx,
      accepted.map(({ acceptance }) => acceptance.hold),
    );
    const methodEvents = await deps.paymentMethods.insert(tx, distinctMethods(accepted));
    const paymentEvents = accepted.map(({ acceptance }) => acceptance.event);
    await deps.subscriptions.enqueue(tx, [...methodEvents, ...paymentEvents], subscriptions);
    return { covered, claims };
  });
  sort(covered, claims, written);
}

const nothingClaimed: Claims = { claimed: new Set(), stale: new Set() };

/** In one order, whoever writes, so that two batches with the same new methods never wait in a ring. */
function distinctMethods(drafts: readonly PlacedDraft[]): PaymentMethod[] {
  const methods = new Map<string, PaymentMethod>();
  for (const { newMethods } of drafts) {
    for (const method of newMethods) methods.set(`${method.tenantId} ${method.id}`, method);
  }
  return [...methods.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, method]) => method);
}

/** With the balances locked, decides in order of arrival which payments they still cover. */
async function coveredDrafts(
  deps: Pick<WriteDependencies, 'paymentMethods'>,
  tx: Queryable,
  drafts: readonly PlacedDraft[],
  { refused, lost }: Written,
): Promise<PlacedDraft[]> {
  const keys = drafts.flatMap(({ acceptance: { hold } }) =>
    [hold.debitAccount, hold.creditAccount]
      .filter(isBalanceAccount)
      .map((paymentMethodId) => ({ tenantId: hold.tenantId, paymentMethodId })),
  );
  const balances = await lockBalances(tx, keys);
  // A balance may have been deleted since it was read; nobody can delete it while it is locked.
  const methods = await deps.paymentMethods.find(
    tx,
    keys.map(({ tenantId, paymentMethodId }) => ({ tenantId, id: paymentMethodId })),
  );
  const deleted = new Set(
    methods.filter((method) => method.deletedAt !== null).map((method) => `${method.tenantId} ${method.id}`),
  );
  const available = new Map(
    balances.map(({ tenantId, paymentMethodId, posted, held }) => [
      `${tenantId} ${paymentMethodId}`,
      posted - held,
    ]),
  );
  const taken = await takenKeys(tx, drafts);
  return drafts.filter(({ index, acceptance: { hold, key } }) => {
    const debited = `${hold.tenantId} ${hold.debitAccount}`;
    const credited = `${hold.tenantId} ${hold.creditAccount}`;
    if (deleted.has(debited) || deleted.has(credited)) {
      refused.set(index, errors.payment_method_not_found());
      return false;
    }
    if (!isBalanceAccount(hold.debitAccount)) return true;
    // A repeat takes nothing from the balance, which then covers the payments beside it.
    if (taken.has(`${hold.tenantId} ${key}`)) {
      lost.push(index);
      return false;
    }
    const left = available.get(debited) ?? 0;
    if (left < hold.amount) {
      refused.set(index, errors.insufficient_funds({ extra: { available: Math.max(0, left) } }));
      return false;
    }
    available.set(debited, left - hold.amount);
    taken.add(`${hold.tenantId} ${key}`);
    return true;
  });
}

async function takenKeys(tx: Queryable, drafts: readonly PlacedDraft[]): Promise<Set<string>> {
  const lookups = drafts
    .filter(({ acceptance: { hold } }) => isBalanceAccount(hold.debitAccount))
    .map(({ acceptance: { hold, key } }) => ({ tenantId: hold.tenantId, path: ACCEPT_PATH, key }));
  if (lookups.length === 0) return new Set();
  return new Set((await findResponses(tx, lookups)).map(({ tenantId, key }) => `${tenantId} ${key}`));
}
