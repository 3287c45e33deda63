import { hash } from 'node:crypto';
import type { Changes, Database } from '@libs/db';

const TOPIC = 'canceled';

/**
 * In the eras with a handshake a client cancels by a notification, which is a request of its own and may reach another
 * process than the call did. Calls are found by who sent them and their id. Ids are only unique per client, so a
 * notification that fits more than one running call cancels none.
 */
export interface Cancellations {
  /** Returns what ends the tracking. */
  track(key: string, controller: AbortController): () => void;
  cancel(key: string): Promise<void>;
}

export function createCancellations(deps: {
  database: Database;
  changes: Pick<Changes, 'publish' | 'on'>;
  onError: (error: unknown) => void;
}): Cancellations {
  const running = new Map<string, Set<AbortController>>();

  function cancelHere(key: string): boolean {
    const controllers = running.get(key);
    if (controllers === undefined) return false;
    const [only] = controllers;
    if (controllers.size === 1) only?.abort(new DOMException('The client canceled the call.', 'AbortError'));
    return true;
  }

  deps.changes.on(TOPIC, (key) => {
    if (key !== null) cancelHere(key);
  });
  return {
    track(key, controller) {
      const controllers = running.get(key) ?? new Set();
      controllers.add(controller);
      running.set(key, controllers);
      return () => {
        controllers.delete(controller);
        if (controllers.size === 0 && running.get(key) === controllers) running.delete(key);
      };
    },
    async cancel(key) {
      if (!cancelHere(key)) await deps.changes.publish(deps.database, TOPIC, key).catch(deps.onError);
    },
  };
}

export function cancellationKey(sender: {
  principal: string;
  ip: string;
  userAgent: string | undefined;
  id: string | number;
}): string {
  return hash(
    'sha256',
    JSON.stringify([sender.principal, sender.ip, sender.userAgent ?? '', sender.id]),
    'hex',
  );
}
