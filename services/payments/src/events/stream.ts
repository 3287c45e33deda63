import type { Database } from '@libs/db';
import { errors } from '../errors.ts';
import type { Caller } from '../keys/key.ts';
import type { ByMode, Mode } from '../tenant.ts';
import { eventToJson } from './event-json.ts';
import { currentPlace, findMoved, findPlace, listAfter, type StreamPlace } from './stream-store.ts';

/** Streams are resumed by an event that is at most this old. */
export const RESUME_HOURS = 24;
export const STREAMS_PER_KEY_MAX = 10;
/** Of an organisation in one mode and one process: keys can be made by the hundred, and must not take everybody's places. */
export const STREAMS_PER_TENANT_MAX = 100;
const STREAMS_MAX = 1_000;
const PAGE = 100;
/**
 * One look for all tenants that somebody listens to. Rejected: a NOTIFY by every statement that writes events, which all
 * payments would pay for, also those that nobody listens to, and which makes commits wait for each other.
 */
const LOOK_MS = 150;
/** Proxies close what is silent; the caller's key is looked at as often. */
const HEARTBEAT_MS = 15_000;
const KEY_CHECK_MS = 500;
const RETRY_MS = 1_000;
/** Who takes nothing for so long has stopped to read, and can come back by `Last-Event-ID`. */
const UNTAKEN_MAX_MS = 5 * 60_000;

export interface EventStreamsDependencies {
  databases: ByMode<Database>;
  now: () => Date;
  onError: (error: unknown) => void;
  /** Ends all streams: the process stops. */
  ending: AbortSignal;
  untakenMaxMs?: number;
}

export interface OpenStream {
  caller: Caller;
  /** Null begins with what happens from now on. */
  lastEventId: string | null;
  /** Whether the caller's key still opens what it opened; false ends the stream. */
  stillAllowed: () => Promise<boolean>;
  /** Aborted when the caller hung up. */
  hungUp: AbortSignal;
  /** Ends the answer of a caller who reads no longer. */
  hangUp: () => void;
}

interface Listener {
  tenantId: string;
  place: StreamPlace;
  /** One that is telling asks by itself what comes next; what it has not told yet is no news for the others. */
  isWaiting: boolean;
  wake(): void;
}

export function createEventStreams(deps: EventStreamsDependencies) {
  const listeners: ByMode<Set<Listener>> = { test: new Set(), live: new Set() };
  const looking = new Set<Mode>();
  const byKey = createCounts();
  const byTenant = createCounts();
  let open = 0;

  /**
   * Wakes those for whose tenants there is something new; runs while anybody of the mode listens. Each mode looks for
   * itself, so that live streams never wait for the connections of test mode.
   */
  async function look(mode: Mode): Promise<void> {
    if (listeners[mode].size === 0) {
      looking.delete(mode);
      return;
    }
    const waiting = [...listeners[mode]].filter(({ isWaiting }) => isWaiting);
    if (waiting.length > 0) await wakeMoved(mode, waiting);
    lookLater(mode);
  }

  async function wakeMoved(mode: Mode, waiting: readonly Listener[]): Promise<void> {
    try {
      const places = new Map(waiting.map(({ tenantId, place }) => [tenantId, place]));
      for (const { tenantId, place } of waiting) {
        if (isBefore(place, places.get(tenantId))) places.set(tenantId, place);
      }
      const moved = await findMoved(deps.databases[mode], places);
      for (const listener of waiting) if (moved.has(listener.tenantId)) listener.wake();
    } catch (error) {
      deps.onError(error);
    }
  }

  function lookLater(mode: Mode): void {
    looking.add(mode);
    setTimeout(() => void look(mode), LOOK_MS);
  }

  function listen(mode: Mode, listener: Listener): void {
    listeners[mode].add(listener);
    if (!looking.has(mode)) lookLater(mode);
  }

  function admit({ keyId, tenant }: Caller): () => void {
    const isFull =
      byKey.of(keyId) >= STREAMS_PER_KEY_MAX ||
      byTenant.of(tenant.id) >= STREAMS_PER_TENANT_MAX ||
      open >= STREAMS_MAX;
    if (isFull) throw errors.too_many_streams({ retryAfterSeconds: 5 });
    byKey.add(keyId, 1);
    byTenant.add(tenant.id, 1);
    open += 1;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      byKey.add(keyId, -1);
      byTenant.add(tenant.id, -1);
      open -= 1;
    };
  }

  async function beginAt({ caller, lastEventId }: OpenStream): Promise<StreamPlace> {
    const database = deps.databases[caller.tenant.mode];
    if (lastEventId === null) return currentPlace(database);
    const after = new Date(deps.now().getTime() - RESUME_HOURS * 60 * 60 * 1_000);
    const place = await findPlace(database, caller.tenant.id, { eventId: lastEventId, after });
    if (place === undefined) throw errors.last_event_unknown();
    return place;
  }

  /** What goes over the wire, until the caller hangs up, its key ends or the process stops. */
  async function* tell(stream: OpenStream, begin: StreamPlace, leave: () => void): AsyncGenerator<string> {
    const { tenant } = stream.caller;
    const database = deps.databases[tenant.mode];
    const ended = AbortSignal.any([stream.hungUp, deps.ending]);
    const listener: Listener = { tenantId: tenant.id, place: begin, isWaiting: false, wake: () => {} };
    try {
      listen(tenant.mode, listener);
      ended.addEventListener('abort', () => listener.wake(), { once: true });
      yield `retry: ${RETRY_MS}\n\n`;
      let silentSince = performance.now();
      // What is silent costs a look of all together and none of its own: whoever opens many would keep the database busy.
      let hasNews = true;
      while (!ended.aborted && (await stream.stillAllowed())) {
        const { place } = listener;
        const found = hasNews ? await listAfter(database, tenant.id, { place, limit: PAGE }) : [];
        if (found.length > 0) {
          listener.place = found[found.length - 1]?.place ?? listener.place;
          silentSince = performance.now();
          yield found.map(({ event }) => toSse(event.id, event.type, eventToJson(event))).join('');
          continue;
        }
        if (performance.now() - silentSince >= HEARTBEAT_MS) {
          silentSince = performance.now();
          yield ': heartbeat\n\n';
        }
        listener.isWaiting = true;
        hasNews = await new Promise<boolean>((resolve) => {
          setTimeout(resolve, KEY_CHECK_MS, false).unref();
          listener.wake = () => resolve(true);
          if (ended.aborted) resolve(false);
        });
        listener.isWaiting = false;
      }
    } finally {
      listeners[tenant.mode].delete(listener);
      leave();
    }
  }

  return {
    /** Refuses before anything is sent; what it answers must be read to its end or returned. */
    async open(stream: OpenStream): Promise<AsyncGenerator<string>> {
      const leave = admit(stream.caller);
      // Who hangs up while it is being opened never begins to read, and what was not begun has no end to leave by.
      if (stream.hungUp.aborted) leave();
      else stream.hungUp.addEventListener('abort', leave, { once: true });
      try {
        const told = tell(stream, await beginAt(stream), leave);
        return hangUpUntaken(told, stream.hangUp, deps.untakenMaxMs ?? UNTAKEN_MAX_MS);
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

export type EventStreams = ReturnType<typeof createEventStreams>;

/** What waits to be taken cannot end by itself. */
async function* hangUpUntaken(
  messages: AsyncGenerator<string>,
  hangUp: () => void,
  afterMs: number,
): AsyncGenerator<string> {
  for await (const message of messages) {
    const untaken = setTimeout(hangUp, afterMs).unref();
    try {
      yield message;
    } finally {
      clearTimeout(untaken);
    }
  }
}

/** How many there are of each; those of which there are none are forgotten. */
function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (id: string) => counts.get(id) ?? 0,
    add(id: string, more: number): void {
      const count = (counts.get(id) ?? 0) + more;
      if (count === 0) counts.delete(id);
      else counts.set(id, count);
    },
  };
}

function isBefore(place: StreamPlace, other: StreamPlace | undefined): boolean {
  if (other === undefined) return true;
  const [a, b] = [BigInt(place.txid), BigInt(other.txid)];
  return a < b || (a === b && place.eventId < other.eventId);
}

/** The data has no line breaks: it is JSON in one line. */
function toSse(id: string, type: string, data: string): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}
