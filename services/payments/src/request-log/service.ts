import { type Database, makePart, renewParts } from '@libs/db';
import { idTimeMs, type NewId } from '@libs/seal';
import type { Sweep } from '../retention/service.ts';
import { redact, redactText } from './redaction.ts';
import {
  BODY_BYTES_MAX,
  dayBefore,
  dayOf,
  type RequestLog,
  type RequestLogBodies,
  type SeenRequest,
  type StoredRequest,
} from './request-log.ts';
import { Shares } from './shares.ts';
import {
  addLeftOut,
  findRequestLog,
  insertRequestLogs,
  type LogFilters,
  type LogPlace,
  listRequestLogs,
  logsTable,
  removeLeftOutBefore,
  sumLeftOut,
} from './store.ts';

const WRITE_EVERY_MS = 250;
/** Some seconds of what all shares together allow; a database that is away that long costs lines of the log, not memory. */
const WAITING_MAX = 1_000;
const ROWS_PER_STATEMENT = 200;
/** How many calls one page looks through for what fits its filters. */
const LOOK_MAX = 5_000;
const PATH_LENGTH_MAX = 512;

export interface RequestLogPage {
  logs: RequestLog[];
  next: LogPlace | null;
  /** Calls of the kept days that are not among them. */
  leftOut: number;
  /** None with 0. */
  keptDays: number;
}

export interface RequestLogs {
  /** Whether a call that just ended is kept; under load most are only counted. */
  wants(tenantId: string, status: number): boolean;
  /** Takes a call that is wanted. Returns at once: it is written a moment later, beside the requests. */
  record(seen: SeenRequest): void;
  list(
    tenantId: string,
    query: { before: LogPlace | null; filters: LogFilters; limit: number },
  ): Promise<RequestLogPage>;
  find(tenantId: string, id: string): Promise<(RequestLog & RequestLogBodies) | undefined>;
  sweep: Sweep;
  /** Writes what still waits. */
  close(): Promise<void>;
}

export interface RequestLogsDependencies {
  database: Database;
  newId: NewId;
  now: () => Date;
  /** None is kept with 0. */
  days: number;
  onError: (error: unknown) => void;
}

export function createRequestLogs(options: RequestLogsDependencies): RequestLogs {
  const { database, newId, now, days, onError } = options;
  const shares = new Shares();
  const knownDays = new Set<string>();
  let waiting: SeenRequest[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  /** Counted calls need a write, too, so the timer runs from the first call of either kind. */
  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      writing = writing.then(write);
    }, WRITE_EVERY_MS).unref();
  }

  async function write(): Promise<void> {
    try {
      while (waiting.length > 0) {
        const batch = waiting.slice(0, ROWS_PER_STATEMENT);
        waiting = waiting.slice(ROWS_PER_STATEMENT);
        await writeRows(batch.map((seen) => toStored(seen, newId)));
      }
      await writeLeftOut();
    } catch (error) {
      // Lines of this log are worth less than what the process does besides: they are not tried again.
      onError(error);
    }
  }

  async function writeRows(rows: readonly StoredRequest[]): Promise<void> {
    try {
      for (const day of new Set(rows.map(({ at }) => dayOf(at)))) await makeDay(day);
      await insertRequestLogs(database, rows);
    } catch (error) {
      for (const { tenantId } of rows) shares.leaveOut(tenantId);
      throw error;
    }
  }

  async function makeDay(day: string): Promise<void> {
    if (knownDays.has(day)) return;
    if (await makePart(database, logsTable(days), new Date(`${day}T00:00:00Z`))) knownDays.add(day);
  }

  async function writeLeftOut(): Promise<void> {
    const leftOut = shares.takeLeftOut();
    if (leftOut.size > 0) await addLeftOut(database, dayOf(now()), leftOut);
  }

  return {
    wants(tenantId, status) {
      if (days === 0) return false;
      const wanted = shares.take(tenantId, status >= 400, now().getTime());
      schedule();
      return wanted;
    },

    record(seen) {
      if (waiting.length < WAITING_MAX) waiting.push(seen);
      else shares.leaveOut(seen.tenantId);
      schedule();
    },

    async list(tenantId, { before, filters, limit }) {
      const since = dayBefore(now(), days);
      const found = await listRequestLogs(database, tenantId, {
        ...{ since, before, filters, limit: limit + 1, lookMax: LOOK_MAX },
      });
      const logs = found.logs.slice(0, limit);
      const last = logs.at(-1);
      const more = found.logs.length > limit && last !== undefined;
      return {
        logs,
        next: more ? { day: dayOf(last.at), id: last.id } : found.lookedTo,
        leftOut: await sumLeftOut(database, tenantId, since),
        keptDays: days,
      };
    },

    async find(tenantId, id) {
      // An id says when it was made, a moment after the call: the day of either is looked at.
      const madeMs = idTimeMs(id);
      if (madeMs === undefined) return undefined;
      const made = new Date(madeMs);
      const since = dayBefore(now(), days);
      const near = [dayOf(made), dayBefore(made, 1)].filter((day) => day >= since);
      return findRequestLog(database, tenantId, { days: near, id });
    },

    async sweep(limit) {
      await renewParts(database, logsTable(days), now());
      return removeLeftOutBefore(database, dayBefore(now(), days), limit);
    },

    async close() {
      clearTimeout(timer);
      timer = undefined;
      await writing;
      await write();
    },
  };
}

function toStored(seen: SeenRequest, newId: NewId): StoredRequest {
  const { requestBody, responseBody, ...rest } = seen;
  return {
    ...rest,
    id: newId('log'),
    path: redactText(rest.path).slice(0, PATH_LENGTH_MAX),
    query: rest.query === null ? null : redactText(rest.query).slice(0, PATH_LENGTH_MAX),
    requestBody: seen.requestBytes > BODY_BYTES_MAX ? null : keptBody(requestBody),
    responseBody:
      responseBody === undefined || seen.responseBytes > BODY_BYTES_MAX
        ? null
        : keptBody(JSON.parse(responseBody)),
  };
}

function keptBody(body: unknown): string | null {
  return body === undefined || body === null ? null : JSON.stringify(redact(body));
}
