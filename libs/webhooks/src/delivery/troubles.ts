import { type AwayServer, isDatabaseAway } from '@libs/db';
import { createOutage, type Outage } from '@libs/runtime';

/** Who tries until it works, and so knows the end of an outage. What is tried once is told by who looks after it. */
type Trier = 'name' | 'look' | 'results';

export interface Trouble {
  /** An error of its own, unless the database is away: that is an outage. */
  failed(error: unknown): void;
  /** What cannot be done for now, whatever the error is, and is tried again. */
  lasts(error: unknown): void;
  worked(): void;
}

export interface TroublesOptions {
  readonly onError: (error: unknown) => void;
  readonly outage?: Outage | undefined;
}

export interface Troubles {
  of(trier: Trier): Trouble;
  /** A server of some tenants is away: that lasts until it is back. */
  lastUntilBack(server: AwayServer): void;
}

/** A database that is away stops all that a dispatcher does: it is told of once for all, when it begins and when it ends. */
export function createTroubles({ onError, ...options }: TroublesOptions): Troubles {
  const outage = options.outage ?? createOutage({ began: onError, ended: () => {} });
  const told = new WeakSet<AwayServer>();
  return {
    of: (trier) => ({
      failed(error) {
        if (isDatabaseAway(error)) outage.failed(error, trier);
        else onError(error);
      },
      lasts: (error) => outage.failed(error, trier),
      worked: () => outage.worked(trier),
    }),
    lastUntilBack(server) {
      if (told.has(server)) return;
      told.add(server);
      outage.failed(server.error, server);
      void server.back.then(() => outage.worked(server));
    },
  };
}
