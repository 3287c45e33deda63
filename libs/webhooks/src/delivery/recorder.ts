import {
  type Batcher,
  createBatcherByServer,
  type Database,
  type FailedBatch,
  outcomesOf,
  type Queryable,
  type Verdict,
} from '@libs/db';
import type { Abandoning } from './abandoning.ts';
import {
  type DeliveryResult,
  type DisableReason,
  type EndpointAddress,
  type EndpointRef,
  laneKey,
} from './delivery.ts';
import type { ResultStore } from './result-store.ts';
import type { TenantServers } from './tenant-servers.ts';
import type { Trouble } from './troubles.ts';

/** All run inside the transaction that records the results, for results that count; what they write commits with it. */
export interface DeliveryHooks {
  /**
   * Of these endpoints those that are switched on, with the address that they have now; both stay so until the transaction
   * ends. What another address answered neither switches them off nor wears them out. Without it, none ever moves.
   */
  readonly lockAddresses?: (
    tx: Queryable,
    refs: readonly EndpointRef[],
  ) => Promise<readonly EndpointAddress[]>;
  readonly onDelivered?: (tx: Queryable, results: readonly DeliveryResult[]) => Promise<void>;
  /** A try failed and another will follow. */
  readonly onFailed?: (tx: Queryable, results: readonly DeliveryResult[]) => Promise<void>;
  /** The schedule is used up. */
  readonly onDead?: (tx: Queryable, results: readonly DeliveryResult[]) => Promise<void>;
  /** The endpoint must be switched off; what waits for it is being abandoned. */
  readonly onDisabled?: (tx: Queryable, ref: EndpointRef, reason: DisableReason) => Promise<void>;
}

export interface RecorderOptions {
  readonly database: Database;
  readonly store: ResultStore;
  readonly servers: Pick<TenantServers, 'isAwayFor'>;
  readonly abandoning: Pick<Abandoning, 'abandonEndpoint'>;
  readonly hooks: DeliveryHooks;
  readonly now: () => Date;
  readonly disableAfterMs: number | undefined;
  /** Called after the commit, or when the results were given up. */
  readonly onSettled: (results: readonly DeliveryResult[]) => void;
  readonly trouble: Trouble;
}

const RESULTS_PER_BATCH_MAX = 1_000;
/** Never reached: long before, the loop takes no more deliveries. */
const RESULTS_WAITING_MAX = 100_000;
/**
 * Nobody waits for a result to be written, and a batch costs the database a millisecond whatever its size: while results
 * keep coming, it rests for a few times as long as it writes. What is lost by a kill meanwhile is sent again.
 */
const RESTS_PER_WRITE = 4;
const REST_MS_MAX = 20;
const RETRY_DELAY_MS = 100;
const RETRY_DELAY_MS_MAX = 5_000;
/** How long a delivery waits whose result could not be written though the database answers. */
const UNRECORDED_DELAY_MS = 60_000;

/** Read-only after a change of roles, full, or about to stop: every result would be refused alike, and none for good. */
function isOfTheServer(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^(25006|40|53|57P0)/.test(code);
}

type IsCurrent = (result: DeliveryResult) => boolean;

const isDelivered = (result: DeliveryResult) => result.kind === 'delivered';

function uniqueRefs(results: readonly DeliveryResult[]): EndpointRef[] {
  const refs = results.map(({ tenantId, endpointId }) => ({ tenantId, endpointId }));
  return [...new Map(refs.map((ref) => [laneKey(ref), ref])).values()];
}

/** Writes down what ended, all that ended meanwhile in one go. A result is kept until the database has it. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #results: Batcher<DeliveryResult, undefined>;
  #isGivenUp = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#results = createBatcherByServer(options.database, {
      tenantOf: ({ tenantId }) => tenantId,
      run: (results) => this.#write(results),
      batchMax: RESULTS_PER_BATCH_MAX,
      queueMax: RESULTS_WAITING_MAX,
      onOverflow: () => new Error('too many results wait to be written'),
      onFailure: (error, failed) => this.#judge(error, failed),
      gatherMs: ({ tookMs }) => Math.min(tookMs * RESTS_PER_WRITE, REST_MS_MAX),
    });
  }

  /** Ended and not yet written. */
  get size(): number {
    return this.#results.size;
  }

  add(result: DeliveryResult): void {
    void this.#results.add(result).catch(() => this.#giveBack(result));
  }

  /** Waits until all is written, but not for ever: what is given up then is sent again by whoever comes next. */
  async finish(waitMs: number): Promise<void> {
    const timer = setTimeout(() => {
      this.#isGivenUp = true;
    }, waitMs);
    await this.#results.idle();
    clearTimeout(timer);
  }

  /** Waits for a database that is away, or a server of it. Where it answers and still refuses, one endpoint must not hold up the rest. */
  async #judge(error: unknown, { items, attempt }: FailedBatch<DeliveryResult>): Promise<Verdict> {
    const { store, servers, trouble } = this.#options;
    const retry = { retryInMs: Math.min(RETRY_DELAY_MS * 2 ** (attempt - 1), RETRY_DELAY_MS_MAX) };
    // It was told of when it was found away; others go on writing meanwhile.
    if (!this.#isGivenUp && (await servers.isAwayFor(error, items))) return retry;
    if (!this.#isGivenUp && (isOfTheServer(error) || !(await store.isReachable()))) {
      trouble.lasts(error);
      return retry;
    }
    trouble.failed(error);
    return this.#isGivenUp ? 'reject' : 'split';
  }

  /** Where this fails too the row is due at once: the owner of the lane sends it again. */
  async #giveBack(result: DeliveryResult): Promise<void> {
    const { store, now, trouble, onSettled } = this.#options;
    if (this.#isGivenUp) return;
    const notBefore = new Date(now().getTime() + UNRECORDED_DELAY_MS);
    await store.delay([result], notBefore).catch(trouble.failed);
    onSettled([result]);
  }

  async #write(results: readonly DeliveryResult[]) {
    if (!this.#isGivenUp) {
      const written = await this.#commit(results);
      this.#options.trouble.worked();
      this.#options.onSettled(written);
    }
    return outcomesOf(results.map(() => undefined));
  }

  /** Gives the results as they were written. */
  async #commit(results: readonly DeliveryResult[]): Promise<readonly DeliveryResult[]> {
    const { store, hooks, database } = this.#options;
    if (hooks.onDelivered === undefined && results.every(isDelivered)) {
      // The common case is a single statement, which needs no transaction around it.
      await store.recordDelivered(database, results);
      return results;
    }
    return database.transaction(async (tx) => {
      // Endpoints come before the queue, as where their owner changes them: the other order ends in a deadlock with that.
      const isCurrent = await this.#lockAddresses(tx, results);
      const written = results.map((result) => (isCurrent(result) ? result : (result.ifMoved ?? result)));
      const finished = written.filter((result) => result.kind !== 'retry');
      const retried = written.filter((result) => result.kind === 'retry');
      const counted = new Set([
        ...(finished.length > 0 ? await store.recordFinished(tx, finished) : []),
        ...(retried.length > 0 ? await store.recordRetries(tx, retried) : []),
      ]);
      await this.#tellHooks(
        tx,
        written.filter((result) => counted.has(result.id)),
        isCurrent,
      );
      return written;
    });
  }

  /** Holds the endpoints on which these results may bear, and says of a result whether it is of the address of now. */
  async #lockAddresses(tx: Queryable, results: readonly DeliveryResult[]): Promise<IsCurrent> {
    const { hooks, disableAfterMs } = this.#options;
    const bearing = results.filter(
      ({ kind }) =>
        kind === 'gone' || (disableAfterMs !== undefined && (kind === 'retry' || kind === 'exhausted')),
    );
    if (hooks.lockAddresses === undefined || bearing.length === 0) return () => true;
    const addresses = await hooks.lockAddresses(tx, uniqueRefs(bearing));
    const urls = new Map(addresses.map((address) => [laneKey(address), address.url]));
    return (result) => urls.get(laneKey(result)) === result.url;
  }

  async #tellHooks(tx: Queryable, results: readonly DeliveryResult[], isCurrent: IsCurrent): Promise<void> {
    const { hooks } = this.#options;
    const ofKind = (kind: DeliveryResult['kind']) => results.filter((result) => result.kind === kind);
    const [delivered, retried, exhausted, gone] = [
      ofKind('delivered'),
      ofKind('retry'),
      ofKind('exhausted'),
      ofKind('gone'),
    ];
    if (delivered.length > 0) await hooks.onDelivered?.(tx, delivered);
    if (retried.length > 0) await hooks.onFailed?.(tx, retried);
    if (exhausted.length > 0) await hooks.onDead?.(tx, exhausted);
    for (const ref of uniqueRefs(gone)) await this.#disable(tx, ref, 'gone');
    const answering = new Set([...delivered, ...gone].map(laneKey));
    const failed = uniqueRefs([...retried, ...exhausted].filter(isCurrent)).filter(
      (ref) => !answering.has(laneKey(ref)),
    );
    for (const ref of await this.#findWorn(tx, failed)) await this.#disable(tx, ref, 'failing');
  }

  async #findWorn(tx: Queryable, failed: readonly EndpointRef[]): Promise<EndpointRef[]> {
    const { disableAfterMs, now, store } = this.#options;
    if (disableAfterMs === undefined || failed.length === 0) return [];
    const at = now();
    return store.noteFailures(tx, failed, at, new Date(at.getTime() - disableAfterMs));
  }

  async #disable(tx: Queryable, ref: EndpointRef, reason: DisableReason): Promise<void> {
    const { abandoning, hooks } = this.#options;
    await abandoning.abandonEndpoint(tx, ref);
    await hooks.onDisabled?.(tx, ref, reason);
  }
}
