import { type Changes, type Database, isServerMissing } from '@libs/db';
import type { AppError, Outage } from '@libs/runtime';
import type { BearerResolver } from '../customers/identity.ts';
import type { CustomerService } from '../customers/service.ts';
import { errors } from '../errors.ts';
import { deleteSuspension, insertSuspension, listSuspended } from './suspensions-store.ts';

const TOPIC = 'suspension';
/** Between two looks at a list of which one server's part is missing: no message comes when that is back. */
const AGAIN_MS = 1_000;

/** Who is suspended. The list is small and in the memory of every process, so asking costs a call nothing. */
export interface Suspensions {
  /** Throws 503 `not_ready` until the list has been read once. */
  isSuspended(customerId: string): boolean;
  /** 403 `customer_suspended`, with whom to ask. */
  refusal(): AppError;
  suspend(customer: { customerId: string; reason: string | null }): Promise<void>;
  resume(customerId: string): Promise<void>;
  /** The same look-ups, refusing suspended customers with 403 `customer_suspended`. */
  guardBearer(resolve: BearerResolver): BearerResolver;
  guardCookie(resolve: CustomerService['resolveCookie']): CustomerService['resolveCookie'];
}

export async function createSuspensions(deps: {
  database: Database;
  changes: Pick<Changes, 'publish' | 'on'>;
  /** Who runs the service, where that is known. */
  operator: string | undefined;
  now: () => Date;
  /** Lasts while the list cannot be read. */
  outage: Outage;
  /** Tests shorten it. */
  againMs?: number;
}): Promise<Suspensions> {
  const { database, changes: channel, outage, againMs = AGAIN_MS } = deps;
  let suspended = new Set<string>();
  /** Counts changes: a list that was read before one of them came in is out of date. */
  let changes = 0;
  let isOutOfDate = false;
  let isCatchingUp = false;
  let isRead = false;

  function apply({ customerId, isSuspended }: { customerId: string; isSuspended: boolean }): void {
    changes += 1;
    if (isSuspended) suspended.add(customerId);
    else suspended.delete(customerId);
  }

  async function reload(): Promise<void> {
    for (let before = -1; before !== changes; ) {
      before = changes;
      const listed = await listSuspended(database);
      if (before === changes) suspended = new Set(listed);
    }
    isRead = true;
  }

  function failed(error: unknown): void {
    outage.failed(error);
    if (isServerMissing(database, error)) setTimeout(catchUp, againMs).unref();
  }

  /** One look at a time: those that a silent database keeps waiting must not add up. */
  async function catchUp(): Promise<void> {
    isOutOfDate = true;
    if (isCatchingUp) return;
    isCatchingUp = true;
    while (isOutOfDate) {
      isOutOfDate = false;
      await reload().then(() => outage.worked(), failed);
    }
    isCatchingUp = false;
  }

  // Listening begins before the first look, so that no change falls between them.
  channel.on(TOPIC, (message) => {
    if (message === null) void catchUp();
    else apply(JSON.parse(message));
  });
  try {
    await reload();
  } catch (error) {
    // The server of some customers is away alone: the process starts, and lets nobody in whom it cannot look up.
    if (!isServerMissing(database, error)) throw error;
    failed(error);
  }

  const { operator } = deps;
  const detail = operator && `This account is suspended; ask the operator, ${operator.replace(/[.]$/, '')}.`;
  const refusal = () => errors.customer_suspended(detail ? { detail } : {});

  function isSuspended(customerId: string): boolean {
    if (!isRead) throw errors.not_ready({ retryAfterSeconds: 1 });
    return suspended.has(customerId);
  }

  function refuseSuspended(customerId: string): void {
    if (isSuspended(customerId)) throw refusal();
  }

  return {
    isSuspended,
    refusal,
    async suspend({ customerId, reason }) {
      await database.transaction(async (tx) => {
        await insertSuspension(tx, { customerId, reason, at: deps.now() });
        await channel.publish(tx, TOPIC, JSON.stringify({ customerId, isSuspended: true }));
      });
      apply({ customerId, isSuspended: true });
    },
    async resume(customerId) {
      await database.transaction(async (tx) => {
        await deleteSuspension(tx, customerId);
        await channel.publish(tx, TOPIC, JSON.stringify({ customerId, isSuspended: false }));
      });
      apply({ customerId, isSuspended: false });
    },
    guardBearer(resolve) {
      const refuse: <Found extends Awaited<ReturnType<BearerResolver>>>(session: Found) => Found = (
        session,
      ) => {
        if (session?.kind === 'customer') refuseSuspended(session.customerId);
        return session;
      };
      return (token) => {
        const found = resolve(token);
        return found instanceof Promise ? found.then(refuse) : refuse(found);
      };
    },
    guardCookie: (resolve) => async (sessionToken) => {
      const found = await resolve(sessionToken);
      if (found !== undefined) refuseSuspended(found.session.customerId);
      return found;
    },
  };
}
