import { hash } from 'node:crypto';
import {
  createBatcherByServer,
  type Database,
  type FailedBatch,
  isDeadlock,
  isRefusedData,
  isTenantAway,
  type Outcome,
  patienceAmongProcesses,
  type Queryable,
  type Verdict,
} from '@libs/db';
import { currentTrace } from '@libs/runtime';
import { errors } from '../../errors.ts';
import { lockForChange } from '../../ledger/service.ts';
import type { ByMode } from '../../tenant.ts';
import { lockPayments } from '../store.ts';
import { ACCEPT_STATUS } from './acceptance.ts';
import { TenantContexts } from './context.ts';
import { lockVersions } from './context-store.ts';
import {
  type AcceptRequest,
  type DraftDependencies,
  draftPayment,
  type PlacedDraft,
  TenantMoved,
} from './draft.ts';
import type { KnownTenants } from './known-tenant.ts';
import type { RecentResponses } from './recent.ts';
import { Repeats } from './repeats.ts';
import { findResponses, type StoredResponse } from './store.ts';
import { createTurnEnd } from './turn-end.ts';
import { type WriteDependencies, type Written, writeDrafts } from './write.ts';

/** The response as it went out the first time; `replayed` says that this is not the first time. */
export interface AcceptResponse {
  status: number;
  body: string;
  replayed: boolean;
}

type LaneDependencies = DraftDependencies &
  Omit<WriteDependencies, 'repeats'> & {
    /** Whether other processes work on the same database. */
    areSeveral: () => boolean;
    recent: RecentResponses;
  };

export type AcceptDependencies = Omit<LaneDependencies, 'database' | 'recent'> & {
  databases: ByMode<Database>;
  recent: ByMode<RecentResponses>;
};

const BATCH_MAX = 200;
const QUEUE_MAX = 10_000;
/** A batch is drafted anew when a tenant has changed meanwhile; after this many rounds the tenant is held still. */
const ROUNDS_MAX = 3;

/** Accepts payments: those that wait together are decided and written together, with one statement and one commit. */
export function createAcceptance({ databases, recent, ...deps }: AcceptDependencies) {
  // Each mode has its own queue and its own connections: a flood of test payments delays no live one.
  const lanes: ByMode<Accept> = {
    live: createLane({ ...deps, database: databases.live, recent: recent.live }),
    test: createLane({ ...deps, database: databases.test, recent: recent.test }),
  };
  return (request: AcceptRequest): Promise<AcceptResponse> => lanes[request.tenant.mode](request);
}

export type Accept = (request: AcceptRequest) => Promise<AcceptResponse>;

function createLane({ recent, ...deps }: LaneDependencies): Accept {
  const accepting = { ...deps, contexts: new TenantContexts(), repeats: new Repeats() };
  const { add: accept } = createBatcherByServer<AcceptRequest, AcceptResponse, Drafted>(deps.database, {
    tenantOf: ({ tenant }) => tenant.id,
    prepare: (requests) => draftAll(accepting, requests, [...requests.keys()]),
    run: (drafted) => acceptAll(accepting, drafted),
    batchMax: BATCH_MAX,
    queueMax: QUEUE_MAX,
    onOverflow: () => errors.overloaded({ retryAfterSeconds: 1 }),
    onFailure: (error, failed) => judge(deps.database, error, failed),
    gatherMs: patienceAmongProcesses(deps.areSeveral),
  });

  const atEndOfTurn = createTurnEnd();

  return async (request) => {
    const given = recent.get(request);
    if (given) {
      await new Promise<void>(atEndOfTurn);
      return replay(given, given.canonicalBody === request.canonicalBody);
    }
    // From before the answer is known: it must not be remembered longer than it is kept.
    const atMs = deps.now().getTime();
    const trace = currentTrace();
    const wanted = trace === undefined ? request : { ...request, trace };
    const response = await accept(wanted).catch((error: unknown) => acceptMoved(accept, wanted, error));
    if (response.replayed) recent.set(request, { ...response, canonicalBody: request.canonicalBody }, atMs);
    return response;
  };
}

/** Enough for whoever stood in the way to be through. */
const DEADLOCKS_MAX = 5;

/**
 * Whoever is in the batch does not answer for one of them: tenants whose server is there do not wait for one whose is away, and
 * nobody is refused for a deadlock. What was written after all is found by its key.
 */
function judge(
  database: Database,
  error: unknown,
  { attempt }: Pick<FailedBatch<AcceptRequest>, 'attempt'>,
): Verdict {
  if (isRefusedData(error) || isTenantAway(database, error)) return 'split';
  return isDeadlock(error) && attempt < DEADLOCKS_MAX ? { retryInMs: 0 } : 'reject';
}

/** How often a sandbox may be reset while one payment waits. */
const MOVES_MAX = 100;

/** Accepts the payment for what test mode has become since the caller was recognised; throws any other error again. */
async function acceptMoved(accept: Accept, request: AcceptRequest, first: unknown): Promise<AcceptResponse> {
  let error = first;
  for (let move = 0; move < MOVES_MAX && error instanceof TenantMoved; move += 1) {
    // What it would refund is out of sight.
    if (request.refundOf !== null) throw errors.not_found({ detail: 'There is no such payment.' });
    try {
      return await accept({ ...request, tenant: error.tenant });
    } catch (next) {
      error = next;
    }
  }
  throw error instanceof TenantMoved ? errors.overloaded({ retryAfterSeconds: 1 }) : error;
}

type Accepting = DraftDependencies & WriteDependencies & { contexts: TenantContexts };
type Outcomes = Outcome<AcceptResponse>[];

interface Drafted {
  requests: readonly AcceptRequest[];
  /** Places of the requests that were drafted or refused. */
  places: readonly number[];
  known: KnownTenants;
  drafts: readonly PlacedDraft[];
  refused: ReadonlyMap<number, unknown>;
  /** Tenants of which nothing was read for these drafts: what was remembered of them may no longer hold. */
  remembered: ReadonlySet<string>;
}

async function draftAll(
  deps: Accepting,
  requests: readonly AcceptRequest[],
  places: readonly number[],
  db: Queryable = deps.database,
): Promise<Drafted> {
  const { known, remembered } = await deps.contexts.load(
    db,
    places.map((place) => requests[place] as AcceptRequest),
  );
  const drafts: PlacedDraft[] = [];
  const refused = new Map<number, unknown>();
  for (const index of places) {
    const request = requests[index] as AcceptRequest;
    const tenant = known.get(request.tenant.id);
    if (!tenant) throw new Error(`tenant ${request.tenant.id} was not read`);
    try {
      drafts.push({ index, ...draftPayment(deps, request, tenant) });
    } catch (error) {
      refused.set(index, error);
    }
  }
  return { requests, places, known, drafts, refused, remembered };
}

async function acceptAll(deps: Accepting, first: Drafted): Promise<Outcomes> {
  const { requests } = first;
  const outcomes: Outcomes = [];
  let open = await acceptDrafted(deps, first, outcomes);
  for (let round = 1; round < ROUNDS_MAX && open.length > 0; round += 1) {
    open = await acceptDrafted(deps, await draftAll(deps, requests, open), outcomes);
  }
  if (open.length > 0) await acceptHeldStill(deps, requests, { places: open, outcomes });
  return outcomes;
}

/**
 * For tenants that change again and again between the look and the write: all that others could change is locked before
 * it is read, in the order that everyone keeps, so this round is the last.
 */
async function acceptHeldStill(
  deps: Accepting,
  requests: readonly AcceptRequest[],
  { places, outcomes }: { places: readonly number[]; outcomes: Outcomes },
): Promise<void> {
  const held = places.map((place) => requests[place] as AcceptRequest);
  const { drafted, written } = await deps.database.transaction(async (tx) => {
    await lockPayments(
      tx,
      held.flatMap(({ refundOf }) => refundOf ?? []),
    );
    await lockForChange(
      tx,
      held.flatMap(({ tenant, input }) =>
        [input.sourceId, input.destinationId].map((id) => ({ tenantId: tenant.id, paymentMethodId: id })),
      ),
    );
    const tenantIds = new Set(held.map(({ tenant }) => tenant.id));
    await lockVersions(tx, tenantIds);
    deps.contexts.forget(tenantIds);
    const drafted = await draftAll(deps, requests, places, tx);
    return { drafted, written: await writeDrafts(deps, drafted.drafts, { known: drafted.known, tx }) };
  });
  await answer(deps, { requests, written, refused: drafted.refused, outdated: new Set(), outcomes });
}

/** Answers the places of those that must be drafted again, because their tenants have changed. */
async function acceptDrafted(deps: Accepting, drafted: Drafted, outcomes: Outcomes): Promise<number[]> {
  const { requests, places, drafts, known, refused, remembered } = drafted;
  const written = await writeDrafts(deps, drafts, { known, tx: null });
  const outdated = new Set(written.stale);
  // A refusal is written nowhere, so nothing compares the version: it counts only by what was read just now. What a balance
  // does not cover may be one that was deleted, or left behind by a reset, since.
  for (const index of [...refused.keys(), ...written.refused.keys()]) {
    const { tenant } = requests[index] as AcceptRequest;
    if (remembered.has(tenant.id)) outdated.add(tenant.id);
  }
  deps.contexts.forget(outdated);
  await answer(deps, { requests, written, refused, outdated, outcomes });
  return places.filter((index) => outcomes[index] === undefined);
}

interface Answering {
  requests: readonly AcceptRequest[];
  written: Written;
  refused: ReadonlyMap<number, unknown>;
  outdated: ReadonlySet<string>;
  outcomes: Outcomes;
}

async function answer(
  deps: Accepting,
  { requests, written, refused, outdated, outcomes }: Answering,
): Promise<void> {
  for (const { index, event } of written.accepted) {
    outcomes[index] = { ok: true, value: { status: ACCEPT_STATUS, body: event.data, replayed: false } };
  }
  // A key that was taken before is answered as it was then, also where the payment would be refused today.
  const errorOf = new Map<number, unknown>([...refused, ...written.refused]);
  for (const index of written.lost) {
    errorOf.set(index, errors.idempotency_key_in_use({ retryAfterSeconds: 1 }));
  }
  if (errorOf.size === 0) return;
  const lost = new Set(written.lost);
  const stored = await findStored(
    deps,
    [...errorOf.keys()].map((index) => requests[index] as AcceptRequest),
  );
  for (const [index, error] of errorOf) {
    const request = requests[index] as AcceptRequest;
    // What the key stood for before a reset of the sandbox went with it.
    const before = error instanceof TenantMoved ? undefined : stored.get(keyOf(request));
    if (before) outcomes[index] = tryReplay(request, before);
    // Nothing of an outdated tenant was written: what a balance did not cover beside the others it may cover now.
    else if (lost.has(index) || !outdated.has(request.tenant.id)) outcomes[index] = { ok: false, error };
  }
}

function keyOf({ tenant, path, key }: AcceptRequest): string {
  return `${tenant.id} ${path} ${key}`;
}

async function findStored(
  { database }: Pick<Accepting, 'database'>,
  requests: readonly AcceptRequest[],
): Promise<Map<string, StoredResponse>> {
  const lookups = requests.map(({ tenant, path, key }) => ({ tenantId: tenant.id, path, key }));
  const found = await findResponses(database, lookups);
  return new Map(found.map((stored) => [`${stored.tenantId} ${stored.path} ${stored.key}`, stored]));
}

/** The response as it went out before; throws where the key came with another body then. */
function replay({ status, body }: { status: number; body: string }, isSameBody: boolean): AcceptResponse {
  if (!isSameBody) throw errors.idempotency_key_reused();
  return { status, body, replayed: true };
}

function tryReplay({ canonicalBody }: AcceptRequest, stored: StoredResponse): Outcome<AcceptResponse> {
  try {
    return { ok: true, value: replay(stored, hash('sha256', canonicalBody, 'hex') === stored.fingerprint) };
  } catch (error) {
    return { ok: false, error };
  }
}
