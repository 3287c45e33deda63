import type { Database, Queryable } from '@libs/db';
import type { Revocation } from './revocation.ts';
import { announceRevocation, REVOCATION_CHANNEL } from './revocations-store.ts';

export interface RevocationListener {
  forget(revocation: Revocation): void;
  /** Messages may have been missed: nothing that is remembered can be trusted. */
  forgetAll(): void;
}

/** How all processes learn that tokens stopped working. */
export interface Revocations {
  /** A change that revokes. With its commit all processes are told; this one has forgotten when the call returns. */
  transaction<T>(
    work: (tx: Queryable, revoke: (revocation: Revocation) => Promise<void>) => Promise<T>,
  ): Promise<T>;
  subscribe(listener: RevocationListener): void;
  close(): Promise<void>;
}

export async function createRevocations(database: Database): Promise<Revocations> {
  const listeners: RevocationListener[] = [];
  const forget = (revocation: Revocation) => {
    for (const listener of listeners) listener.forget(revocation);
  };
  const subscription = await database.listen(
    REVOCATION_CHANNEL,
    (payload) => forget(JSON.parse(payload) as Revocation),
    {
      onReconnect: () => {
        for (const listener of listeners) listener.forgetAll();
      },
    },
  );
  return {
    async transaction(work) {
      const revoked: Revocation[] = [];
      const result = await database.transaction((tx) =>
        work(tx, async (revocation) => {
          await announceRevocation(tx, revocation);
          revoked.push(revocation);
        }),
      );
      for (const revocation of revoked) forget(revocation);
      return result;
    },
    subscribe: (listener) => void listeners.push(listener),
    close: () => subscription.stop(),
  };
}
