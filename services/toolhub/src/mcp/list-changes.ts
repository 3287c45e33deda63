import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';

/** How long nobody is told again after everybody was told; what changed meanwhile is told at its end. */
const EVERYBODY_MS_MIN = 10_000;
/** Streams that one customer may hold open in one process: each costs a connection. */
const STREAMS_PER_CUSTOMER_MAX = 16;

/**
 * Tells open `subscriptions/listen` streams that their customer's list of tools changed. The SDK knows one bus for all
 * streams and not whose each is, so the stream is opened within the context of its customer.
 */
export interface ListChanges {
  readonly bus: ServerEventBus;
  /** Streams that are opened by `work` are this listener's. */
  openFor<T>(owner: string | null, work: () => Promise<T>): Promise<T>;
  /** Whether one more stream would be too many. */
  isFull(owner: string): boolean;
  /** Null tells everybody, because anything may have changed. */
  tell(owner: string | null): void;
  close(): void;
}

type Listener = (event: ServerEvent) => void;

export function createListChanges(onError: (error: unknown) => void): ListChanges {
  const owners = new AsyncLocalStorage<string | null>();
  const listeners = new Map<string, Set<Listener>>();
  const event: ServerEvent = { kind: 'tools_list_changed' };
  let everybodyAtMs = Number.NEGATIVE_INFINITY;
  let endOfPause: NodeJS.Timeout | undefined;
  let isClosed = false;

  function publish(event: ServerEvent, told: Iterable<Listener>): void {
    for (const listener of [...told])
      try {
        listener(event);
      } catch (error) {
        onError(error);
      }
  }

  function tellEverybody(): void {
    endOfPause = undefined;
    everybodyAtMs = performance.now();
    for (const own of listeners.values()) publish(event, own);
  }

  return {
    bus: {
      publish: (event) =>
        publish(
          event,
          [...listeners.values()].flatMap((set) => [...set]),
        ),
      subscribe(listener) {
        const owner = owners.getStore() ?? null;
        if (owner === null) return () => {};
        const own = listeners.get(owner) ?? new Set();
        listeners.set(owner, own.add(listener));
        return () => {
          own.delete(listener);
          if (own.size === 0 && listeners.get(owner) === own) listeners.delete(owner);
        };
      },
    },
    openFor: (owner, work) => owners.run(owner, work),
    isFull: (owner) => (listeners.get(owner)?.size ?? 0) >= STREAMS_PER_CUSTOMER_MAX,
    tell(owner) {
      if (owner !== null) return publish(event, listeners.get(owner) ?? []);
      if (endOfPause !== undefined || isClosed) return;
      // While the database cannot be heard this is said four times a second; once is enough to ask anew.
      const pauseMs = everybodyAtMs + EVERYBODY_MS_MIN - performance.now();
      if (pauseMs <= 0) return tellEverybody();
      endOfPause = setTimeout(tellEverybody, pauseMs).unref();
    },
    close() {
      isClosed = true;
      clearTimeout(endOfPause);
    },
  };
}
