import { createBatcher, type Outcome } from '@libs/db';
import { errors } from '../errors.ts';
import { TenantContexts } from './accept-context.ts';
import { type AcceptRequest, type DraftDependencies, draftPayment } from './accept-draft.ts';
import { ACCEPT_PATH, ACCEPT_STATUS, findResponses, type StoredResponse } from './accept-store.ts';
import { type WriteDependencies, type Written, writeDrafts } from './accept-write.ts';

/** The response as it went out the first time; `replayed` says that this is not the first time. */
export interface AcceptResponse {
  status: number;
  body: string;
  replayed: boolean;
}

export type AcceptDependencies = DraftDependencies & WriteDependencies;

const BATCH_MAX = 200;
const BATCHES_AT_ONCE = 2;
const QUEUE_MAX = 10_000;
/** A batch is drafted anew when a tenant has changed meanwhile; one that changes faster than this must wait. */
const ROUNDS_MAX = 4;

/** Accepts payments: those that wait together are decided and written together, with one statement and one commit. */
export function createAcceptance(deps: AcceptDependencies) {
  const contexts = new TenantContexts();
  return createBatcher<AcceptRequest, AcceptResponse>({
    run: (requests) => acceptBatch({ ...deps, contexts }, requests),
    batchMax: BATCH_MAX,
    concurrency: BATCHES_AT_ONCE,
    queueMax: QUEUE_MAX,
    onOverflow: () => errors.overloaded({ retryAfterSeconds: 1 }),
  });
}

type Accepting = AcceptDependencies & { contexts: TenantContexts };
type Outcomes = Outcome<AcceptResponse>[];

async function acceptBatch(deps: Accepting, requests: readonly AcceptRequest[]): Promise<Outcomes> {
  const outcomes: Outcomes = [];
  let open = requests.map((_, index) => index);
  for (let round = 0; round < ROUNDS_MAX && open.length > 0; round += 1) {
    open = await acceptOnce(deps, { requests, open, outcomes });
  }
  for (const index of open) {
    outcomes[index] = { ok: false, error: errors.overloaded({ retryAfterSeconds: 1 }) };
  }
  return outcomes;
}

interface Batch {
  requests: readonly AcceptRequest[];
  /** Places of the requests that have no outcome yet. */
  open: readonly number[];
  outcomes: Outcomes;
}

/** Answers which requests must be tried again, because what was remembered of their tenants no longer holds. */
async function acceptOnce(deps: Accepting, { requests, open, outcomes }: Batch): Promise<number[]> {
  const asked = open.map((index) => requests[index] as AcceptRequest);
  const { known, remembered } = await deps.contexts.load(deps.database, asked);
  const outdated = new Set<string>();
  const refused = new Map<number, unknown>();
  const drafts = [];
  for (const [place, index] of open.entries()) {
    const request = asked[place] as AcceptRequest;
    const tenant = known.get(request.tenant.id);
    if (!tenant) throw new Error(`tenant ${request.tenant.id} was not read`);
    try {
      drafts.push({ index, ...draftPayment(deps, request, tenant) });
    } catch (error) {
      // A refusal is written nowhere, so nothing has compared the version: it counts only when it was read just now.
      if (remembered.has(request.tenant.id)) outdated.add(request.tenant.id);
      refused.set(index, error);
    }
  }
  const written = await writeDrafts(deps, drafts, known);
  for (const tenantId of written.stale) outdated.add(tenantId);
  deps.contexts.forget(outdated);
  await answer(deps, { requests, written, refused, outdated, outcomes });
  return open.filter((index) => outcomes[index] === undefined);
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
  const stored = await findStored(
    deps,
    [...errorOf.keys()].map((index) => requests[index] as AcceptRequest),
  );
  for (const [index, error] of errorOf) {
    const request = requests[index] as AcceptRequest;
    const before = stored.get(keyOf(request));
    if (before) outcomes[index] = replay(request, before);
    else if (!refused.has(index) || !outdated.has(request.tenant.id)) outcomes[index] = { ok: false, error };
  }
}

function keyOf({ tenant, key }: AcceptRequest): string {
  return `${tenant.id} ${key}`;
}

async function findStored(
  { database }: Pick<Accepting, 'database'>,
  requests: readonly AcceptRequest[],
): Promise<Map<string, StoredResponse>> {
  const lookups = requests.map(({ tenant, key }) => ({ tenantId: tenant.id, path: ACCEPT_PATH, key }));
  const found = await findResponses(database, lookups);
  return new Map(found.map((stored) => [`${stored.tenantId} ${stored.key}`, stored]));
}

function replay(request: AcceptRequest, stored: StoredResponse): Outcome<AcceptResponse> {
  if (stored.fingerprint !== request.fingerprint) {
    return { ok: false, error: errors.idempotency_key_reused() };
  }
  return { ok: true, value: { status: stored.status, body: stored.body, replayed: true } };
}
