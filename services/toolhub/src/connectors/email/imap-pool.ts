import { createHash } from 'node:crypto';
import type { ImapFlow } from 'imapflow';
import { type AddressGuard, ConnectorError, type ToolContext } from '../connector.ts';
import { type EmailCredential, type MailServer, usesOAuth } from './credential.ts';
import { fromImapError } from './failures.ts';
import { connectImap } from './imap-connection.ts';

export interface ImapPoolLimits {
  perAccount: number;
  total: number;
  waitersPerAccount: number;
  waitMs: number;
  idleMs: number;
  /** A connection that rested longer than this is asked for a sign of life before it is used. */
  freshMs: number;
}

const LIMITS: ImapPoolLimits = {
  perAccount: 3,
  total: 200,
  waitersPerAccount: 50,
  waitMs: 20_000,
  idleMs: 60_000,
  freshMs: 15_000,
};

export interface ImapPool {
  /** Runs `work` with a connection of its own; the connection goes back unless it broke. */
  use<T>(context: ToolContext<EmailCredential>, work: (client: ImapFlow) => Promise<T>): Promise<T>;
  size(): { open: number; idle: number };
  close(): Promise<void>;
}

interface Lease {
  client: ImapFlow;
  isReused: boolean;
}

interface Idle {
  client: ImapFlow;
  since: number;
  timer: NodeJS.Timeout;
  onClose: () => void;
}

interface Waiter {
  resolve: (idle: ImapFlow | null) => void;
}

interface Account {
  key: string;
  open: number;
  idle: Idle[];
  waiters: Waiter[];
}

type Connect = (
  server: MailServer,
  options: { guard: AddressGuard; signal: AbortSignal },
) => Promise<ImapFlow>;

export interface ImapPoolOptions {
  limits?: Partial<ImapPoolLimits>;
  connect?: Connect;
  nowMs?: () => number;
}

/** Customers never share a connection, and a changed password or token never meets an old one. */
function accountKey({ customerId, account, credential }: ToolContext<EmailCredential>): string {
  const identity = JSON.stringify([customerId, customerId === null ? account : '', credential.imap]);
  return createHash('sha256').update(identity).digest('base64url');
}

function busy(): ConnectorError {
  return new ConnectorError('rate_limited', 'too many calls use this mailbox at once', {
    retryAfterSeconds: 5,
  });
}

export function createImapPool(options: ImapPoolOptions = {}): ImapPool {
  const limits = { ...LIMITS, ...options.limits };
  const connect = options.connect ?? connectImap;
  const nowMs = options.nowMs ?? Date.now;
  const accounts = new Map<string, Account>();
  let open = 0;
  let isClosed = false;

  function accountOf(key: string): Account {
    let account = accounts.get(key);
    if (account === undefined) {
      account = { key, open: 0, idle: [], waiters: [] };
      accounts.set(key, account);
    }
    return account;
  }

  /** Gives the slot of a closed connection to the next waiter, who may open a new one. */
  function freeSlot(account: Account): void {
    account.open -= 1;
    open -= 1;
    const waiter = account.waiters.shift();
    if (waiter !== undefined) {
      reserveSlot(account);
      waiter.resolve(null);
    } else if (account.open === 0) {
      accounts.delete(account.key);
    }
  }

  function reserveSlot(account: Account): void {
    account.open += 1;
    open += 1;
  }

  function dropIdle(account: Account, idle: Idle): void {
    const index = account.idle.indexOf(idle);
    if (index < 0) return;
    account.idle.splice(index, 1);
    wake(idle);
    idle.client.close();
    freeSlot(account);
  }

  function wake({ client, timer, onClose }: Idle): void {
    clearTimeout(timer);
    client.off('close', onClose);
  }

  function evictOldestIdle(): boolean {
    let oldest: { account: Account; idle: Idle } | undefined;
    for (const account of accounts.values()) {
      const idle = account.idle[0];
      if (idle !== undefined && (oldest === undefined || idle.since < oldest.idle.since))
        oldest = { account, idle };
    }
    if (oldest === undefined) return false;
    dropIdle(oldest.account, oldest.idle);
    return true;
  }

  function waitForTurn(account: Account, signal: AbortSignal): Promise<ImapFlow | null> {
    if (account.waiters.length >= limits.waitersPerAccount) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<ImapFlow | null>();
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
      if (await isAlive(idle)) return { client: idle.client, isReused: true };
      idle.client.close();
    } else if (account.open < limits.perAccount) {
      if (open >= limits.total && !evictOldestIdle()) throw busy();
      reserveSlot(account);
    } else {
      const handed = await waitForTurn(account, context.signal);
      if (handed !== null) return { client: handed, isReused: true };
    }
    try {
      const client = await connect(context.credential.imap, context);
      return { client, isReused: false };
    } catch (error) {
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

  function giveBack(account: Account, client: ImapFlow): void {
    const waiter = account.waiters.shift();
    if (waiter !== undefined) {
      waiter.resolve(client);
      return;
    }
    const idle: Idle = {
      client,
      since: nowMs(),
      timer: setTimeout(() => dropIdle(account, idle), limits.idleMs),
      onClose: () => dropIdle(account, idle),
    };
    idle.timer.unref();
    client.once('close', idle.onClose);
    account.idle.push(idle);
  }

  async function run<T>(
    account: Account,
    client: ImapFlow,
    { signal, work }: { signal: AbortSignal; work: (client: ImapFlow) => Promise<T> },
  ): Promise<T> {
    const abort = () => client.close();
    signal.addEventListener('abort', abort, { once: true });
    let isIntact = false;
    try {
      signal.throwIfAborted();
      const result = await work(client);
      isIntact = true;
      return result;
    } catch (error) {
      // After our own refusals and after a plain NO the conversation goes on; anything else leaves it in doubt.
      isIntact =
        error instanceof ConnectorError || (error as { responseStatus?: string }).responseStatus === 'NO';
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      if (isIntact && client.usable && !isClosed) {
        giveBack(account, client);
      } else {
        client.close();
        freeSlot(account);
      }
    }
  }

  /** A rested connection may have died unnoticed. IMAP work here can be done twice, so then it is. */
  async function runWithOneRetry<T>(
    context: ToolContext<EmailCredential>,
    work: (client: ImapFlow) => Promise<T>,
  ): Promise<T> {
    const { signal } = context;
    const key = accountKey(context);
    const account = accountOf(key);
    const lease = await acquire(account, context);
    try {
      return await run(account, lease.client, { signal, work });
    } catch (error) {
      const wasLost = lease.isReused && !lease.client.usable && !(error instanceof ConnectorError);
      if (!wasLost || signal.aborted) throw error;
    }
    const again = accountOf(key);
    const { client } = await acquire(again, context);
    return run(again, client, { signal, work });
  }

  return {
    async use(context, work) {
      if (isClosed) throw new ConnectorError('platform_unavailable', 'the service is stopping');
      context.signal.throwIfAborted();
      try {
        return await runWithOneRetry(context, work);
      } catch (error) {
        context.signal.throwIfAborted();
        throw fromImapError(error, { oauth: usesOAuth(context.credential.imap) });
      }
    },
    size() {
      return { open, idle: [...accounts.values()].reduce((sum, account) => sum + account.idle.length, 0) };
    },
    async close() {
      isClosed = true;
      for (const account of [...accounts.values()])
        for (const idle of [...account.idle]) dropIdle(account, idle);
    },
  };
}
