import type { Database, Queryable } from '@libs/db';
import { type CronEntry, completeJobs, dailyAt, enqueueJobs, type Handler, type Job } from '@libs/jobs';
import type { EmitEvent } from '../../events/event.ts';
import { PayloadError } from '../payload.ts';
import { ACCOUNT_CLAIMED_JOB } from './accounts.ts';
import type { AppMessage, InboundApp } from './app.ts';
import {
  type DeliveryKey,
  deleteOldArrivals,
  deleteOldProblems,
  findOwners,
  findUnprocessedDelivery,
  insertAppMessage,
  insertDelivery,
  insertWaiting,
  lockAccounts,
  markDeliveryProcessed,
  type StoredDelivery,
  takeWaiting,
} from './store.ts';

export interface InboundAppsDependencies {
  database: Database;
  apps: readonly InboundApp[];
  emitEvent: EmitEvent;
  now: () => Date;
  /** Told of deliveries that nothing could be made of; they are kept as long as others. */
  onProblem: (error: unknown, context: { delivery: string }) => void;
}

export interface InboundApps {
  readonly apps: readonly InboundApp[];
  /** Keeps a delivery byte for byte and has it worked on; a repeat is dropped. Then nothing can be lost any more. */
  accept(delivery: DeliveryKey & { body: Buffer; signature: string }): Promise<void>;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
}

interface Reading {
  items: AppMessage[];
  problem: string | null;
  error?: PayloadError;
}

const DELIVERY_JOB = 'inbound.delivery';
const PURGE_JOB = 'inbound.purge_apps';
const HANDED_OVER_AT_ONCE = 500;
const PURGED_AT_ONCE = 1_000;
const DAY_MS = 24 * 60 * 60_000;
const DELIVERIES_KEPT_MS = 30 * DAY_MS;
/** An app that a stranger installed goes on sending what nobody here will ever claim. */
const UNCLAIMED_KEPT_MS = 30 * DAY_MS;
const MESSAGES_KEPT_MS = 90 * DAY_MS;

export function createInboundApps(deps: InboundAppsDependencies): InboundApps {
  const { database, now } = deps;
  const byPlatform = new Map(deps.apps.map((app) => [app.platform, app]));

  /** Stores a message once for a customer and tells of it once, in the same transaction. */
  async function deliver(
    tx: Queryable,
    app: InboundApp,
    {
      customerId,
      account,
      receivedAt,
      item,
    }: {
      customerId: string;
      account: string;
      receivedAt: Date;
      item: AppMessage;
    },
  ): Promise<void> {
    const { key, channel, at: sentAt, data } = item;
    const isNew = await insertAppMessage(tx, {
      ...{ customerId, platform: app.platform, account, key, channel, sentAt, receivedAt },
      message: JSON.stringify(item.message),
    });
    if (isNew) await deps.emitEvent(tx, { customerId, type: app.event, data });
  }

  function readOrReport(app: InboundApp, delivery: StoredDelivery): Reading {
    const reading = read(app, delivery);
    if (reading.error !== undefined)
      deps.onProblem(reading.error, { delivery: `${delivery.platform} ${delivery.deliveryId}` });
    return reading;
  }

  function read(app: InboundApp, delivery: StoredDelivery): Reading {
    try {
      return {
        items: app.read(JSON.parse(delivery.body.toString('utf8')), delivery.receivedAt),
        problem: null,
      };
    } catch (error) {
      if (!(error instanceof PayloadError)) throw error;
      return { items: [], problem: error.message, error };
    }
  }

  async function work(tx: Queryable, app: InboundApp, delivery: StoredDelivery): Promise<void> {
    const { items, problem } = readOrReport(app, delivery);
    if (!(await markDeliveryProcessed(tx, delivery, { at: now(), problem }))) return;
    const { platform } = app;
    const accounts = items.flatMap((item) => [...item.accounts]);
    await lockAccounts(tx, { platform, accounts, exclusively: false });
    const owners = await findOwners(tx, { platform, accounts });
    const { receivedAt } = delivery;
    for (const item of items)
      for (const account of item.accounts) {
        const customers = owners.get(account) ?? [];
        for (const customerId of customers) await deliver(tx, app, { customerId, account, receivedAt, item });
        if (customers.length === 0)
          await insertWaiting(tx, {
            platform,
            account,
            key: item.key,
            receivedAt,
            item: JSON.stringify(item),
          });
      }
  }

  /** One delivery is one transaction with its job, so a bad one keeps no other back. */
  async function handleDeliveries(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs as readonly Job<DeliveryKey>[]) {
      const app = byPlatform.get(job.payload.platform);
      const delivery = await findUnprocessedDelivery(database, job.payload);
      await database.transaction(async (tx) => {
        if (app !== undefined && delivery !== undefined) await work(tx, app, delivery);
        await completeJobs(tx, [job]);
      });
    }
  }

  /** Where tables are spread: one by one, since deliveries may be megabytes each. */
  async function receiversOf(jobs: readonly Job[]): Promise<string[][]> {
    const receivers: string[][] = [];
    for (const { payload } of jobs as readonly Job<DeliveryKey>[]) {
      const app = byPlatform.get(payload.platform);
      const delivery = await findUnprocessedDelivery(database, payload);
      const items = app === undefined || delivery === undefined ? [] : read(app, delivery).items;
      receivers.push(
        await ownersOf(
          payload.platform,
          items.flatMap(({ accounts }) => [...accounts]),
        ),
      );
    }
    return receivers;
  }

  async function ownersOf(platform: string, accounts: readonly string[]): Promise<string[]> {
    const owners = await findOwners(database, { platform, accounts });
    return [...new Set([...owners.values()].flat())];
  }

  function claimantsOf(jobs: readonly Job[]): Promise<string[][]> {
    const claims = jobs as readonly Job<{ platform: string; account: string }>[];
    return Promise.all(claims.map(({ payload }) => ownersOf(payload.platform, [payload.account])));
  }

  /** True when there may be more. */
  async function handOver(app: InboundApp, account: string): Promise<boolean> {
    const { platform } = app;
    return database.transaction(async (tx) => {
      await lockAccounts(tx, { platform, accounts: [account], exclusively: true });
      const customers = (await findOwners(tx, { platform, accounts: [account] })).get(account) ?? [];
      if (customers.length === 0) return false;
      const waiting = await takeWaiting(tx, { platform, account, limit: HANDED_OVER_AT_ONCE });
      for (const { item, receivedAt } of waiting)
        for (const customerId of customers)
          await deliver(tx, app, { customerId, account, receivedAt, item: revive(item) });
      return waiting.length === HANDED_OVER_AT_ONCE;
    });
  }

  async function handleClaimed(jobs: readonly Job[], signal: AbortSignal): Promise<void> {
    for (const { payload } of jobs as readonly Job<{ platform: string; account: string }>[]) {
      const app = byPlatform.get(payload.platform);
      for (
        let isMore = app !== undefined;
        isMore;
        isMore = await handOver(app as InboundApp, payload.account)
      )
        signal.throwIfAborted();
    }
  }

  async function purge(signal: AbortSignal): Promise<void> {
    const ago = (ms: number) => new Date(now().getTime() - ms);
    const before = {
      ...{ deliveries: ago(DELIVERIES_KEPT_MS), unclaimed: ago(UNCLAIMED_KEPT_MS) },
      ...{ messages: ago(MESSAGES_KEPT_MS), limit: PURGED_AT_ONCE },
    };
    for (const deleteSome of [deleteOldArrivals, deleteOldProblems])
      for (let deleted = PURGED_AT_ONCE; deleted === PURGED_AT_ONCE && !signal.aborted; )
        deleted = await deleteSome(database, before);
  }

  return {
    apps: deps.apps,
    async accept({ platform, deliveryId, body, signature }) {
      await database.transaction(async (tx) => {
        const isNew = await insertDelivery(tx, { platform, deliveryId, receivedAt: now(), body, signature });
        if (isNew)
          await enqueueJobs(tx, database.schema, [{ name: DELIVERY_JOB, payload: { platform, deliveryId } }]);
      });
    },
    jobs: {
      handlers: [
        { name: DELIVERY_JOB, tenantsOf: receiversOf, handle: handleDeliveries },
        {
          name: ACCOUNT_CLAIMED_JOB,
          tenantsOf: claimantsOf,
          handle: (jobs, { signal }) => handleClaimed(jobs, signal),
        },
        { name: PURGE_JOB, handle: (_jobs, { signal }) => purge(signal) },
      ],
      cron: [{ name: PURGE_JOB, schedule: dailyAt(3, 40) }],
    },
  };
}

/** An item as it was written to wait; only its moment is no JSON. */
function revive(json: string): AppMessage {
  const item = JSON.parse(json) as AppMessage & { at: string };
  return { ...item, at: new Date(item.at) };
}
