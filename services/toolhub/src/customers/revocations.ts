import type { Changes, Database, Queryable } from '@libs/db';
import type { Revocation } from './revocation.ts';

const TOPIC = 'revocation';

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
  /** In the caller's transaction: with its commit all processes are told, this one among them. */
  announce(tx: Queryable, revocation: Revocation): Promise<void>;
  subscribe(listener: RevocationListener): void;
}

export function createRevocations({
  database,
  changes,
}: {
  database: Database;
  changes: Pick<Changes, 'publish' | 'on'>;
}): Revocations {
  const listeners: RevocationListener[] = [];
  const forget = (revocation: Revocation) => {
    for (const listener of listeners) listener.forget(revocation);
  };
  changes.on(TOPIC, (message) => {
    if (message !== null) forget(JSON.parse(message) as Revocation);
    else for (const listener of listeners) listener.forgetAll();
  });
  const announce: Revocations['announce'] = (tx, revocation) =>
    changes.publish(tx, TOPIC, JSON.stringify(revocation));
  return {
    announce,
    async transaction(work) {
      const revoked: Revocation[] = [];
      const result = await database.transaction((tx) =>
        work(tx, async (revocation) => {
          await announce(tx, revocation);
          revoked.push(revocation);
        }),
      );
      for (const revocation of revoked) forget(revocation);
      return result;
    },
    subscribe: (listener) => void listeners.push(listener),
  };
}
