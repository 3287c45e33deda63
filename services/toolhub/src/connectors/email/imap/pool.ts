import { createHash } from 'node:crypto';
import type { ImapFlow } from 'imapflow';
import { type AddressGuard, ConnectorError, stillOpen, type ToolContext } from '../../connector.ts';
import {
  busy,
  type ConnectionShares,
  createConnectionShares,
  ownerOf,
  type ShareLimits,
} from '../connection-shares.ts';
import { type EmailCredential, type MailServer, usesOAuth } from '../credential.ts';
import { connectionLost, fromImapError } from '../failures.ts';
import { guardOf } from './guard.ts';

export interface ImapPoolLimits {
  perAccount: number;
  waitersPerAccount: number;
  waitMs: number;
  idleMs: number;
  /** A connection that rested longer than this is asked for a sign of life before it is used. */
  freshMs: number;
}

const LIMITS: ImapPoolLimits = {
  perAccount: 3,
  waitersPerAccount: 50,
  waitMs: 10_000,
  idleMs: 60_000,
  freshMs: 15_000,
};

export interface UseOptions {
  /** A repeat of `work` would do it a second time, or not find what the first try has changed. */
  isOnce?: boolean;
}

export interface ImapPool {
  /** Runs `work` with a connection of its own; the connection goes back unless it broke. */
  use<T>(
    context: ToolContext<EmailCredential>,
    work: (client: ImapFlow) => Promise<T>,
    options?: UseOptions,
  ): Promise<T>;
  size(): { open: number; idle: number };
  close(): Promise<void>;
}

/** A connection and the place that it takes. */
interface Held {
  client: ImapFlow;
  release: () => void;
}

interface Lease extends Held {
  isReused: boolean;
}

interface Idle extends Held {
  since: number;
  timer: NodeJS.Timeout;
  onClose: () => void;
}

interface Waiter {
  /** With null, the waiter may open a connection of its own. */
  resolve: (held: Held | null) => void;
}

interface Account {
  key: string;
  owner: string;
  open: number;
  idle: Idle[];
  waiters: Waiter[];
}

type Connect = (
  server: MailServer,
  options: { guard: AddressGuard; signal: AbortSignal },
) => Promise<ImapFlow>;

export interface ImapPoolDependencies {
  limits?: Partial<ImapPoolLimits & Pick<ShareLimits, 'total'>>;
  /** Shared with whatever else opens mail connections. */
  shares?: ConnectionShares;
  connect?: Connect;
  nowMs?: () => number;
}

/** Customers never share a connection, and a changed password or token never meets an old one. */
function accountKey({ customerId, account, credential }: ToolContext<EmailCredential>): string {
  const identity = JSON.stringify([customerId, customerId === null ? account : '', credential.imap]);
  return createHash('sha256').update(identity).digest('base64url');
}

function changesAsked({ client }: Held): number {
  return guardOf(client)?.changesAsked ?? 0;
}

/** With the library, which is loaded with the first connection. */
const connectByLibrary: Connect = async (server, options) => {
  const { connectImap } = await import('./connection.ts');
  return connectImap(server, options);
};

export function createImapPool(options: ImapPoolDependencies = {}): ImapPool {
  const limits = { ...LIMITS, ...options.limits };
  const connect = options.connect ?? connectByLibrary;
  const nowMs = options.nowMs ?? Date.now;
  const { total, waitMs } = { total: undefined, ...limits };
  const shares =
    options.shares ?? createConnectionShares({ ...(total === undefined ? {} : { total }), waitMs });
  const accounts = new Map<string, Account>();
  let isClosed = false;
  shares.onPressure(closeResting);

  function accountOf(context: ToolContext<EmailCredential>): Account {
    const key = accountKey(context);
    let account = accounts.get(key);
    if (account === undefined) {
      account = { key, owner: ownerOf(context), open: 0, idle: [], waiters: [] };
      accounts.set(key, account);
    }
    return account;
  }

  /** Gives the slot of a closed connection to the next waiter, who may open a new one. */
  function freeSlot(account: Account): void {
    account.open -= 1;
    const waiter = account.waiters.shift();
    if (waiter !== undefined) {
      account.open += 1;
      waiter.resolve(null);
    } else if (account.open === 0) {
      accounts.delete(account.key);
    }
  }

  function dropIdle(account: Account, idle: Idle): void {
    const index = account.idle.indexOf(idle);
    if (index < 0) return;
    account.idle.splice(index, 1);
    wake(idle);
    idle.client.close();
    idle.release();
    freeSlot(account);
  }

  function wake({ client, timer, onClose }: Idle): void {
    clearTimeout(timer);
    client.off('close', onClose);
  }

  /** Closes the connection that rested longest, of this owner or of all. */
  function closeResting(owner: string | null): boolean {
    let oldest: { account: Account; idle: Idle } | undefined;
    for (const account of accounts.values()) {
      const idle = account.idle[0];
      if (idle === undefined || (owner !== null && account.owner !== owner)) continue;
      if (oldest === undefined || idle.since < oldest.idle.since) oldest = { account, idle };
    }
    if (oldest === undefined) return false;
    dropIdle(oldest.account, oldest.idle);
    return true;
  }

  function waitForTurn(account: Account, signal: AbortSignal): Promise<Held | null> {
    if (account.waiters.length >= limits.waitersPerAccount) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<Held | null>();
    const waiter: Waiter = { resolve };
    const leave = (reason: unknown) => {
      const index = account.waiters.indexOf(waiter);
      if (index < 0) return;
      account.waiters.splice(index, 1);
      reject(reason);
    };
    const timer = setTimeout(() => leave(busy()), limits.waitMs);
    const abort = () => leave(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    account.waiters.push(waiter);
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  }

  function takeIdle(account: Account): Idle | undefined {
    const idle = account.idle.pop();
    if (idle !== undefined) wake(idle);
    return idle;
  }

  async function acquire(account: Account, context: ToolContext<EmailCredential>): Promise<Lease> {
    const idle = takeIdle(account);
    if (idle !== undefined) {
      if (await isAlive(idle)) return { client: idle.client, release: idle.release, isReused: true };
      idle.client.close();
      idle.release();
    } else if (account.open < limits.perAccount) {
      account.open += 1;
    } else {
      const handed = await waitForTurn(account, context.signal);
      if (handed !== null) return { ...handed, isReused: true };
    }
    let release: (() => void) | undefined;
    try {
      release = await shares.take(account.owner, context.signal);
      const client = await connect(context.credential.imap, context);
      return { client, release, isReused: false };
    } catch (error) {
      release?.();
      freeSlot(account);
      throw error;
    }
  }

  async function isAlive({ client, since }: Idle): Promise<boolean> {
    if (!client.usable) return false;
    if (nowMs() - since < limits.freshMs) return true;
    try {
      await client.noop();
      return client.usable;
    } catch {
      // Whatever the reason, the answer to the question is no; the caller opens a new connection.
      return false;
    }
  }

  function giveBack(account: Account, { client, release }: Held): void {
    const waiter = account.waiters.shift();
    if (waiter !== undefined) {
      waiter.resolve({ client, release });
      return;
    }
    const idle: Idle = {
      client,
      release,
      since: nowMs(),
      timer: setTimeout(() => dropIdle(account, idle), limits.idleMs),
      onClose: () => dropIdle(account, idle),
    };
    idle.timer.unref();
    client.once('close', idle.onClose);
    account.idle.push(idle);
    shares.offer();
  }

  async function run<T>(
    account: Account,
    held: Held,
    { signal, work }: { signal: AbortSignal; work: (client: ImapFlow) => Promise<T> },
  ): Promise<T> {
    const { client } = held;
    const abort = () => client.close();
    signal.addEventListener('abort', abort, { once: true });
    let isIntact = false;
    try {
      signal.throwIfAborted();
      const result = await work(client);
      // The library takes some commands that were cut short for done.
      const failure = guardOf(client)?.failure ?? null;
      if (failure !== null) throw failure;
      isIntact = true;
      return result;
    } catch (error) {
      const failure = guardOf(client)?.failure ?? null;
      if (failure !== null) throw failure;
      // The library answers some commands with a plain no when it was the connection that ended.
      if (error instanceof ConnectorError && error.code === 'platform_error' && !client.usable)
        throw connectionLost();
      // After our own refusals and after a plain NO the conversation goes on; anything else leaves it in doubt.
      isIntact =
        error instanceof ConnectorError || (error as { responseStatus?: string }).responseStatus === 'NO';
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      if (isIntact && client.usable && !isClosed && guardOf(client)?.failure == null) {
        giveBack(account, held);
      } else {
        client.close();
        held.release();
        freeSlot(account);
      }
    }
  }

  /** A rested connection may have died unnoticed. Most work can be done twice, and is then; the rest where nothing was changed yet. */
  async function runWithOneRetry<T>(
    context: ToolContext<EmailCredential>,
    work: (client: ImapFlow) => Promise<T>,
    { isOnce = false }: UseOptions,
  ): Promise<T> {
    const { signal } = context;
    const account = accountOf(context);
    const lease = await acquire(account, context);
    const changesBefore = changesAsked(lease);
    const hasChanged = () => changesAsked(lease) > changesBefore;
    try {
      return await run(account, lease, { signal, work });
    } catch (error) {
      const wasLost = lease.isReused && !lease.client.usable && !(error instanceof ConnectorError);
      if (!wasLost || signal.aborted || (isOnce && hasChanged())) throw error;
    }
    const isOpen = hasChanged();
    const again = accountOf(context);
    try {
      return await run(again, await acquire(again, context), { signal, work });
    } catch (error) {
      if (!isOpen || signal.aborted) throw error;
      throw stillOpen(fromImapError(error, { oauth: usesOAuth(context.credential.imap) }));
    }
  }

  return {
    async use(context, work, useOptions = {}) {
      if (isClosed)
        throw new ConnectorError('platform_unavailable', 'the service is stopping', { nothingDone: true });
      context.signal.throwIfAborted();
      try {
        return await runWithOneRetry(context, work, useOptions);
      } catch (error) {
        context.signal.throwIfAborted();
        throw fromImapError(error, { oauth: usesOAuth(context.credential.imap) });
      }
    },
    size() {
      const all = [...accounts.values()];
      return {
        open: all.reduce((sum, account) => sum + account.open, 0),
        idle: all.reduce((sum, account) => sum + account.idle.length, 0),
      };
    },
    async close() {
      isClosed = true;
      for (const account of [...accounts.values()])
        for (const idle of [...account.idle]) dropIdle(account, idle);
    },
  };
}
