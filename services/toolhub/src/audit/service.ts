import {
  createBatcherByServer,
  type Database,
  isRefusedData,
  outcomesOf,
  type Queryable,
  type Verdict,
} from '@libs/db';
import type { NewId } from '@libs/seal';
import type { Actor, AuditEntry, NewAuditEntry } from './entry.ts';
import { type EntryFilter, insertEntries, listEntries } from './store.ts';

export type { EntryFilter };

/** `next` is the id behind which the log goes on. */
export interface AuditPage {
  entries: AuditEntry[];
  next: string | null;
}

export interface AuditService {
  /** Resolves when the entries are stored; never rejects, so that callers need not wait for it. */
  record(entries: readonly NewAuditEntry[]): Promise<void>;
  /** In the caller's transaction: they are stored exactly where what they tell of is. */
  recordIn(tx: Queryable, entries: readonly NewAuditEntry[]): Promise<void>;
  /** Newest first; a page may hold fewer than it could while there are more. */
  list(query: Partial<EntryFilter> & { customerId: string; limit: number }): Promise<AuditPage>;
  /** Writes what still waits; for the end of the process. */
  close(): Promise<void>;
}

export interface AuditDependencies {
  database: Queryable & Pick<Database, 'serverOf'>;
  newId: NewId;
  now: () => Date;
  onError: (error: unknown, context: { dropped: number }) => void;
}

const BATCH_MAX = 1_000;
/** Beyond this, with the database away, the oldest entries are given up rather than the process. */
const QUEUE_MAX = 50_000;
const RETRY_MS = 250;
const CLOSE_ATTEMPTS_MAX = 8;

/** One statement carries what all concurrent calls recorded, and is tried until the database has it. */
export function createAuditService(deps: AuditDependencies): AuditService {
  const { database, newId, now, onError } = deps;
  let isClosing = false;

  const entries = createBatcherByServer<AuditEntry, undefined>(database, {
    tenantOf: ({ customerId }) => customerId,
    async run(batch) {
      await insertEntries(database, batch);
      return outcomesOf(batch.map(() => undefined));
    },
    batchMax: BATCH_MAX,
    queueMax: QUEUE_MAX,
    overflow: 'oldest',
    onOverflow: () => {
      const error = new Error('the audit queue is full');
      onError(error, { dropped: 1 });
      return error;
    },
    onFailure(error, { items, attempt }): Verdict {
      const isRefused = isRefusedData(error);
      if (isRefused && items.length > 1) return 'split';
      const isOver = isRefused || (isClosing && attempt >= CLOSE_ATTEMPTS_MAX);
      onError(error, { dropped: isOver ? items.length : 0 });
      return isOver ? 'reject' : { retryInMs: RETRY_MS };
    },
  });

  function toEntries(recorded: readonly NewAuditEntry[]): AuditEntry[] {
    const at = now();
    return recorded.map((entry) => ({ ...storable(entry), id: newId('aud'), at }));
  }

  return {
    async record(recorded) {
      await Promise.allSettled(toEntries(recorded).map((entry) => entries.add(entry)));
    },
    async recordIn(tx, recorded) {
      if (recorded.length > 0) await insertEntries(tx, toEntries(recorded));
    },
    async list(query) {
      const { entries, lookedUntil } = await listEntries(database, {
        ...{ before: null, since: null, actor: null, action: null, target: null, outcome: null },
        ...query,
        limit: query.limit + 1,
      });
      const page = entries.slice(0, query.limit);
      const isCut = entries.length > query.limit;
      return { entries: page, next: isCut ? (page.at(-1)?.id ?? null) : lookedUntil };
    },
    async close() {
      isClosing = true;
      await entries.idle();
    },
  };
}

const NAME_LENGTH_MAX = 200;

/** Names and targets are what a caller sent: a mark stands in for what no storage takes. */
function storable(entry: NewAuditEntry): NewAuditEntry {
  return {
    ...entry,
    actor: storableActor(entry.actor),
    target: entry.target === null ? null : clean(entry.target),
    requestId: entry.requestId === null ? null : clean(entry.requestId),
  };
}

function storableActor({ type, id, name }: Actor): Actor {
  return { type, id: clean(id), ...(name ? { name: clean(name.slice(0, NAME_LENGTH_MAX)) } : {}) };
}

function clean(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
