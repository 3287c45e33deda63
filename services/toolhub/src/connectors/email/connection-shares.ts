import { ConnectorError, type ToolContext } from '../connector.ts';

/** How the mail connections of this process are shared out among customers. */
export interface ShareLimits {
  total: number;
  perOwner: number;
  /** Beyond this many, a place is for those only who hold fewer than `modestOwner`. */
  shared: number;
  modestOwner: number;
  waiters: number;
  waitersPerOwner: number;
  waitMs: number;
}

export const SHARE_LIMITS: ShareLimits = {
  total: 200,
  perOwner: 8,
  shared: 150,
  modestOwner: 2,
  waiters: 2_000,
  waitersPerOwner: 50,
  waitMs: 10_000,
};

export interface ConnectionShares {
  /** A place for one connection, from before it is dialled until `release` is called. */
  take(owner: string, signal: AbortSignal): Promise<() => void>;
  /** Someone who holds a place could do without it: whoever waits may have it. */
  offer(): void;
  /** Called with an owner to close one of its resting connections, with null to close the one that rested longest. */
  onPressure(reclaim: (owner: string | null) => boolean): void;
  held(owner?: string): number;
}

interface Waiter {
  owner: string;
  resolve: (release: () => void) => void;
}

/** Each customer, and each account of the operator's, counts by itself. */
export function ownerOf({ customerId, account }: Pick<ToolContext, 'customerId' | 'account'>): string {
  return customerId ?? `internal ${account}`;
}

export function busy(message = 'too many calls use this mailbox at once'): ConnectorError {
  return new ConnectorError('rate_limited', message, { retryAfterSeconds: 5 });
}

export function createConnectionShares(overrides: Partial<ShareLimits> = {}): ConnectionShares {
  const total = overrides.total ?? SHARE_LIMITS.total;
  const limits = { ...SHARE_LIMITS, shared: Math.ceil(total * 0.75), ...overrides };
  const heldBy = new Map<string, number>();
  const waiters: Waiter[] = [];
  let held = 0;
  let reclaim: (owner: string | null) => boolean = () => false;

  const heldOf = (owner: string) => heldBy.get(owner) ?? 0;

  /** Takes a place at once, closing a resting connection where that makes room. */
  function tryTake(owner: string): (() => void) | null {
    if (heldOf(owner) >= limits.perOwner && !reclaim(owner)) return null;
    const isModest = heldOf(owner) < limits.modestOwner;
    if (held >= (isModest ? limits.total : limits.shared) && !reclaim(null)) return null;
    heldBy.set(owner, heldOf(owner) + 1);
    held += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      held -= 1;
      const left = heldOf(owner) - 1;
      if (left > 0) heldBy.set(owner, left);
      else heldBy.delete(owner);
      offer();
    };
  }

  let isOffering = false;
  /** Whoever holds least comes first, and among equals whoever waited longest. */
  function offer(): void {
    // A connection that is closed to make room releases its place while this runs.
    if (isOffering) return;
    isOffering = true;
    try {
      for (const waiter of waiters.toSorted((left, right) => heldOf(left.owner) - heldOf(right.owner))) {
        const release = tryTake(waiter.owner);
        if (release === null) continue;
        waiters.splice(waiters.indexOf(waiter), 1);
        waiter.resolve(release);
      }
    } finally {
      isOffering = false;
    }
  }

  function wait(owner: string, signal: AbortSignal): Promise<() => void> {
    const own = waiters.filter((waiter) => waiter.owner === owner).length;
    if (own >= limits.waitersPerOwner || waiters.length >= limits.waiters) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiter: Waiter = { owner, resolve };
    const leave = (reason: unknown) => {
      const index = waiters.indexOf(waiter);
      if (index < 0) return;
      waiters.splice(index, 1);
      reject(reason);
    };
    const timer = setTimeout(() => leave(busy()), limits.waitMs);
    const abort = () => leave(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    waiters.push(waiter);
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  }

  return {
    async take(owner, signal) {
      signal.throwIfAborted();
      return tryTake(owner) ?? wait(owner, signal);
    },
    offer,
    onPressure(handler) {
      reclaim = handler;
    },
    held: (owner) => (owner === undefined ? held : heldOf(owner)),
  };
}
