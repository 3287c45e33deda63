import { type Database, renewParts } from '@libs/db';
import { type CronEntry, everyMinutes, type Handler } from '@libs/jobs';
import type { NewId } from '@libs/seal';
import {
  type DeliverEvent,
  type EmitEvent,
  EVENTS_KEPT_DAYS,
  type EventKey,
  type RecordedEvent,
} from './event.ts';
import { deleteStrayEventsBefore, EVENTS_TABLE, findEvents, insertEvent } from './store.ts';

const DAY_MS = 24 * 60 * 60_000;
const PURGE_MINUTES = 60;
const PURGE_ROWS = 1_000;
const PURGE_TURNS_MAX = 500;

/** What happened, for as long as anybody may ask for it. */
export interface EventLog {
  /** Writes the event and tells nobody. */
  readonly record: EmitEvent;
  /** Events of any customers, in no order; those that are past their time are absent. */
  find(keys: readonly EventKey[]): Promise<RecordedEvent[]>;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
}

export function createEventLog(deps: { database: Database; newId: NewId; now: () => Date }): EventLog {
  const purge: Handler = {
    name: 'events.purge',
    async handle(_jobs, { signal }) {
      await renewParts(deps.database, EVENTS_TABLE, deps.now());
      const before = new Date(deps.now().getTime() - EVENTS_KEPT_DAYS * DAY_MS);
      for (let turn = 0; turn < PURGE_TURNS_MAX && !signal.aborted; turn += 1) {
        if ((await deleteStrayEventsBefore(deps.database, before, PURGE_ROWS)) < PURGE_ROWS) return;
      }
    },
  };
  return {
    record: createEmitEvent(deps),
    find: (keys) => findEvents(deps.database, keys),
    jobs: { handlers: [purge], cron: [{ name: purge.name, schedule: everyMinutes(PURGE_MINUTES) }] },
  };
}

export interface EmitEventDependencies {
  newId: NewId;
  now: () => Date;
  /** Without it events are stored and nobody is told. */
  deliver?: DeliverEvent;
}

export function createEmitEvent(deps: EmitEventDependencies): EmitEvent {
  return async (tx, event) => {
    const id = deps.newId('evt');
    await insertEvent(tx, { ...event, id, createdAt: deps.now() });
    await deps.deliver?.(tx, { customerId: event.customerId, id, type: event.type });
    return id;
  };
}
