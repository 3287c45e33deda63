import type { Queryable } from '@libs/db';
import type { NewId } from '@libs/seal';
import type { AuditEntry, NewAuditEntry } from './entry.ts';
import { insertEntries, listEntries } from './store.ts';

export interface AuditService {
  /** Resolves when the entries are stored; never rejects, so that callers need not wait for it. */
  record(entries: readonly NewAuditEntry[]): Promise<void>;
  list(query: { customerId: string; before: string | undefined; limit: number }): Promise<AuditEntry[]>;
  /** Writes what still waits; for the end of the process. */
  close(): Promise<void>;
}

export interface AuditDependencies {
  database: Queryable;
  newId: NewId;
  now: () => Date;
  onError: (error: unknown, context: { dropped: number }) => void;
}

interface Waiting {
  entries: readonly AuditEntry[];
  done: () => void;
}

const BATCH_ENTRIES_MAX = 1_000;
/** Beyond this, with the database away, the oldest entries are given up rather than the process. */
const WAITING_ENTRIES_MAX = 50_000;
const RETRY_MS = 250;
const CLOSE_ATTEMPTS_MAX = 8;

/**
 * Entries that arrive while a write is under way go out together with the next one: one statement carries what all
 * concurrent calls recorded, and a lone call waits for nothing but its own insert.
 */
export function createAuditService(deps: AuditDependencies): AuditService {
  const { database, newId, now, onError } = deps;
  let queue: Waiting[] = [];
  let waiting = 0;
  let writing: Promise<void> | undefined;
  let closing = false;

  async function writeAll(): Promise<void> {
    let failures = 0;
    while (queue.length > 0) {
      const batch = takeBatch();
      try {
        await insertEntries(
          database,
          batch.flatMap(({ entries }) => entries),
        );
        failures = 0;
        for (const { done } of batch) done();
      } catch (error) {
        if (isRefusedData(error)) {
          await writeApart(batch);
          continue;
        }
        failures += 1;
        onError(error, { dropped: 0 });
        queue = [...batch, ...queue];
        waiting += countEntries(batch);
        if (closing && failures >= CLOSE_ATTEMPTS_MAX) return giveUp(queue.length, error);
        await new Promise((resume) => setTimeout(resume, RETRY_MS));
      }
    }
  }

  /** One bad entry never keeps back those beside and behind it: each is written alone, and the bad one given up. */
  async function writeApart(batch: readonly Waiting[]): Promise<void> {
    for (const { entries, done } of batch) {
      for (const entry of entries) {
        try {
          await insertEntries(database, [entry]);
        } catch (error) {
          onError(error, { dropped: 1 });
        }
      }
      done();
    }
  }

  function takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    let size = 0;
    while (queue.length > 0 && (size === 0 || size + (queue[0]?.entries.length ?? 0) <= BATCH_ENTRIES_MAX)) {
      const next = queue.shift() as Waiting;
      size += next.entries.length;
      batch.push(next);
    }
    waiting -= size;
    return batch;
  }

  function giveUp(count: number, error: unknown): void {
    const dropped = queue.splice(0, count);
    waiting -= countEntries(dropped);
    onError(error, { dropped: countEntries(dropped) });
    for (const { done } of dropped) done();
  }

  function wake(): void {
    writing ??= writeAll().finally(() => {
      writing = undefined;
      if (queue.length > 0) wake();
    });
  }

  return {
    record(entries) {
      if (entries.length === 0) return Promise.resolve();
      const at = now();
      const complete = entries.map((entry) => ({ ...storable(entry), id: newId('aud'), at }));
      return new Promise((done) => {
        queue.push({ entries: complete, done });
        waiting += complete.length;
        while (waiting > WAITING_ENTRIES_MAX && queue.length > 1)
          giveUp(1, new Error('the audit queue is full'));
        wake();
      });
    },
    list: (query) => listEntries(database, query),
    async close() {
      closing = true;
      while (writing !== undefined) await writing;
    },
  };
}

/** Names and targets are what a caller sent: a mark stands in for what no storage takes. */
function storable(entry: NewAuditEntry): NewAuditEntry {
  const clean = (text: string) => text.replaceAll('\0', '\ufffd').toWellFormed();
  return {
    ...entry,
    actor: { ...entry.actor, id: clean(entry.actor.id) },
    target: entry.target === null ? null : clean(entry.target),
    requestId: entry.requestId === null ? null : clean(entry.requestId),
  };
}

/** Postgres looked at the values and refused them: no later try will do better. */
function isRefusedData(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^2[23]/.test(code);
}

function countEntries(batch: readonly Waiting[]): number {
  return batch.reduce((sum, { entries }) => sum + entries.length, 0);
}
