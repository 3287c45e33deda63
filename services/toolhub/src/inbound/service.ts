import type { Database, Queryable } from '@libs/db';
import { type CronEntry, completeJobs, dailyAt, enqueueJobs, type Handler, type Job } from '@libs/jobs';
import type { NewId } from '@libs/seal';
import type { EmitEvent } from '../events/event.ts';
import { contactName, type InboundItem, PayloadError, payloadKey, readPayload } from './payload.ts';
import { CLAIMED_JOB } from './phone-numbers.ts';
import {
  deleteProblemsBefore,
  deleteProcessedBefore,
  findNumberOwners,
  findUnprocessed,
  type InboxEntry,
  insertInbox,
  insertMessage,
  insertStatus,
  insertUnclaimed,
  lockOwners,
  markProcessed,
  takeUnclaimed,
} from './store.ts';

export interface InboundDependencies {
  database: Database;
  emitEvent: EmitEvent;
  newId: NewId;
  now: () => Date;
  /** Told of deliveries of which something could not be read; they are kept as long as others. */
  onProblem: (error: unknown, context: { delivery: string }) => void;
}

export interface InboundService {
  /** Keeps a delivery byte for byte and has it worked on. When this resolves nothing can be lost any more. */
  accept(delivery: { body: Buffer; signature: string }): Promise<void>;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
}

const ACCEPTED_JOB = 'inbound.whatsapp';
const PURGE_JOB = 'inbound.purge';
const CLAIMED_ITEMS_MAX = 500;
const KEPT_MS = 30 * 24 * 60 * 60_000;
const PURGE_ROWS_MAX = 1_000;

export function createInboundService(deps: InboundDependencies): InboundService {
  const { database, now } = deps;

  /** Stores an item once and tells its customer of it once, in the same transaction. */
  async function deliver(
    tx: Queryable,
    item: InboundItem,
    { customerId, receivedAt }: { customerId: string; receivedAt: Date },
  ): Promise<void> {
    const { phoneNumberId, messageId, at } = item;
    if (item.kind === 'message') {
      const isNew = await insertMessage(tx, {
        ...{ customerId, phoneNumberId, messageId, receivedAt },
        contact: item.from,
        contactName: contactName(item.contact),
        sentAt: at,
        message: JSON.stringify(item.message),
      });
      if (!isNew) return;
      const { from, message, contact } = item;
      const data = { phone_number_id: phoneNumberId, from, message, contact };
      await deps.emitEvent(tx, { customerId, type: 'whatsapp.message.received', data });
    } else {
      const { state } = item;
      if (!(await insertStatus(tx, { customerId, phoneNumberId, messageId, state, at }))) return;
      const data = { phone_number_id: phoneNumberId, to: item.recipient, status: item.status };
      await deps.emitEvent(tx, { customerId, type: 'whatsapp.message.status', data });
    }
  }

  async function readOrReport(entry: InboxEntry): Promise<{ items: InboundItem[]; problem: string | null }> {
    const { items, faults } = await readPayload(entry.body, entry.receivedAt);
    if (faults.length === 0) return { items, problem: null };
    const problem = faults.join('; ');
    deps.onProblem(new PayloadError(problem), { delivery: entry.id });
    return { items, problem };
  }

  async function processEntry(
    tx: Queryable,
    entry: InboxEntry,
    { items, problem }: { items: readonly InboundItem[]; problem: string | null },
  ): Promise<void> {
    if (!(await markProcessed(tx, { id: entry.id, at: now(), problem })) || items.length === 0) return;
    const phoneNumberIds = items.map(({ phoneNumberId }) => phoneNumberId);
    const owners = await lockOwners(tx, { phoneNumberIds, now: now() });
    const { receivedAt } = entry;
    const unclaimed: InboundItem[] = [];
    for (const item of items) {
      const customerId = owners.get(item.phoneNumberId) ?? null;
      if (customerId === null) unclaimed.push(item);
      else await deliver(tx, item, { customerId, receivedAt });
    }
    if (unclaimed.length === 0) return;
    await insertUnclaimed(
      tx,
      unclaimed.map((item) => ({
        phoneNumberId: item.phoneNumberId,
        kind: item.kind,
        key: payloadKey(item),
        receivedAt,
        item: JSON.stringify(item),
      })),
    );
  }

  /**
   * One delivery is one transaction with its job, so a bad one keeps no other back. They may be megabytes each: in the
   * order in which they came, only one of them is in memory.
   */
  async function handleAccepted(jobs: readonly Job[]): Promise<void> {
    const deliveries = Map.groupBy(jobs as readonly Job<{ id: string }>[], ({ payload }) => payload.id);
    for (const id of [...deliveries.keys()].sort()) {
      const entry = await findUnprocessed(database, id);
      if (entry === undefined) continue;
      const read = await readOrReport(entry);
      await database.transaction(async (tx) => {
        await processEntry(tx, entry, read);
        await completeJobs(tx, deliveries.get(id) ?? []);
      });
    }
  }

  /** Where tables are spread: one by one, since deliveries may be megabytes each. */
  async function receiversOf(jobs: readonly Job[]): Promise<string[][]> {
    const receivers: string[][] = [];
    for (const { payload } of jobs as readonly Job<{ id: string }>[]) {
      const entry = await findUnprocessed(database, payload.id);
      const items = entry === undefined ? [] : (await readPayload(entry.body, entry.receivedAt)).items;
      receivers.push(
        await findNumberOwners(
          database,
          items.map(({ phoneNumberId }) => phoneNumberId),
        ),
      );
    }
    return receivers;
  }

  function claimantsOf(jobs: readonly Job[]): Promise<string[][]> {
    const claims = jobs as readonly Job<{ phoneNumberId: string }>[];
    return Promise.all(claims.map(({ payload }) => findNumberOwners(database, [payload.phoneNumberId])));
  }

  /** Hands what waited for an owner to the customer that claimed the number; true when there may be more. */
  async function handOver(phoneNumberId: string): Promise<boolean> {
    return database.transaction(async (tx) => {
      const owners = await lockOwners(tx, { phoneNumberIds: [phoneNumberId], now: now() });
      const customerId = owners.get(phoneNumberId) ?? null;
      if (customerId === null) return false;
      const waiting = await takeUnclaimed(tx, { phoneNumberId, limit: CLAIMED_ITEMS_MAX });
      for (const { item, receivedAt } of waiting) await deliver(tx, revive(item), { customerId, receivedAt });
      return waiting.length === CLAIMED_ITEMS_MAX;
    });
  }

  async function handleClaimed(jobs: readonly Job[], signal: AbortSignal): Promise<void> {
    for (const { payload } of jobs as readonly Job<{ phoneNumberId: string }>[])
      for (let isMore = true; isMore; isMore = await handOver(payload.phoneNumberId)) signal.throwIfAborted();
  }

  async function purge(signal: AbortSignal): Promise<void> {
    const before = new Date(now().getTime() - KEPT_MS);
    for (const deleteSome of [deleteProcessedBefore, deleteProblemsBefore])
      for (let deleted = PURGE_ROWS_MAX; deleted === PURGE_ROWS_MAX && !signal.aborted; )
        deleted = await deleteSome(database, { before, limit: PURGE_ROWS_MAX });
  }

  return {
    async accept({ body, signature }) {
      const id = deps.newId('wha');
      await database.transaction(async (tx) => {
        await insertInbox(tx, { id, receivedAt: now(), body, signature });
        await enqueueJobs(tx, database.schema, [{ name: ACCEPTED_JOB, payload: { id } }]);
      });
    },
    jobs: {
      handlers: [
        { name: ACCEPTED_JOB, tenantsOf: receiversOf, handle: handleAccepted },
        {
          name: CLAIMED_JOB,
          tenantsOf: claimantsOf,
          handle: (jobs, { signal }) => handleClaimed(jobs, signal),
        },
        { name: PURGE_JOB, handle: (_jobs, { signal }) => purge(signal) },
      ],
      cron: [{ name: PURGE_JOB, schedule: dailyAt(3, 20) }],
    },
  };
}

/** An item as it was written to wait; only its moment is no JSON. */
function revive(json: string): InboundItem {
  const item = JSON.parse(json) as InboundItem & { at: string };
  return { ...item, at: new Date(item.at) };
}
