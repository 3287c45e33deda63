import type { Changes, Database, Queryable } from '@libs/db';
import { listConnectedPlatforms } from './store.ts';

export interface ConnectionsListener {
  /** In this process, before the call that changed something returns. */
  forget(customerId: string): void;
  /** In every process, soon after; null when messages may have been missed. */
  heard(customerId: string | null): void;
}

/** Which platforms customers have connected, and how all processes learn that this changed. */
export interface Connections {
  /** Expired ones too: what to do about them is said by their tools. */
  platformsOf(customerId: string): Promise<string[]>;
  /** A change of what is connected, which all processes are told of with its commit. */
  transaction<T>(customerId: string, work: (tx: Queryable, changed: () => void) => Promise<T>): Promise<T>;
  subscribe(listener: ConnectionsListener): void;
}

/** On which all processes are told that what a customer has connected is another now. */
export const CONNECTION_TOPIC = 'connection';

export function createConnections({
  database,
  changes,
}: {
  database: Database;
  changes: Pick<Changes, 'publish' | 'on'>;
}): Connections {
  const listeners: ConnectionsListener[] = [];
  changes.on(CONNECTION_TOPIC, (customerId) => {
    for (const listener of listeners) listener.heard(customerId);
  });
  return {
    platformsOf: (customerId) => listConnectedPlatforms(database, customerId),
    async transaction(customerId, work) {
      let isChanged = false;
      const result = await database.transaction(async (tx) => {
        isChanged = false;
        const done = await work(tx, () => {
          isChanged = true;
        });
        if (isChanged) await changes.publish(tx, CONNECTION_TOPIC, customerId);
        return done;
      });
      if (isChanged) for (const listener of listeners) listener.forget(customerId);
      return result;
    },
    subscribe: (listener) => void listeners.push(listener),
  };
}
