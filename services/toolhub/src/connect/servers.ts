import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { sealedColumn } from '@libs/rotation';
import { ifReadable, type Sealer, unlessLost } from '@libs/seal';
import {
  ConnectorError,
  type GuardedFetch,
  type OAuthClient,
  type OAuthProvider,
  type ServerRegistration,
} from '../connectors/connector.ts';
import {
  claimRegistration,
  deleteUnusedRegistrations,
  findRegistration,
  forgetRegistration,
  type Registration,
  releaseRegistration,
  type ServerKey,
  storeRegistration,
} from './servers-store.ts';

export interface ServersDependencies {
  database: Database;
  sealer: Sealer;
  /** Ids of keys that are lost for good: what they sealed is made anew. */
  lostKeyIds: readonly string[];
  newLeaseId: () => string;
  now: () => Date;
}

export interface ServerAsked {
  platform: string;
  provider: OAuthProvider & { readonly perServer: ServerRegistration };
  /** The origin that the customer named. */
  server: string;
  /** Where it is reached: the same, unless the operator moved the platform elsewhere. */
  address: string;
  redirectUri: string;
  /** The website that the server shows beside the name. */
  website: string;
  fetch: GuardedFetch;
}

/** This service's registrations at servers that customers named: one for each server, made by one process. */
export interface Servers {
  /** Registers there where that has not been done, or the server has forgotten it. Throws ConnectorError. */
  clientAt(asked: ServerAsked): Promise<OAuthClient>;
  /** The client of a login that was begun before; null when it is gone. */
  knownClient(
    asked: Pick<ServerAsked, 'platform' | 'provider' | 'server' | 'address'>,
  ): Promise<OAuthClient | null>;
  forget(key: ServerKey): Promise<void>;
  purge(): Promise<void>;
}

/** Some servers delete clients that nobody used for a day: one that was seen longer ago is asked after. */
const BELIEVED_MS = 12 * 60 * 60_000;
const KEPT_MS = 30 * 24 * 60 * 60_000;
const PURGED_AT_ONCE = 1_000;
const LEASE_MS = 60_000;
const WAIT_STEP_MS = 50;
const WAIT_MS_MAX = 25_000;

interface Client {
  clientId: string;
  clientSecret: string;
}

function contextOf({ platform, server }: ServerKey): string {
  return JSON.stringify(['connect_servers', platform, server]);
}

export const sealedServerClients = sealedColumn({
  table: 'connect_servers',
  column: 'sealed_client',
  key: { platform: 'text', server: 'text' },
  contextOf: (row) => contextOf({ platform: row.platform, server: row.server }),
});

export function createServers(deps: ServersDependencies): Servers {
  const { database, sealer, newLeaseId, now } = deps;
  const seal = (key: ServerKey, client: Client) => sealer.seal(JSON.stringify(client), contextOf(key));
  const read = (key: ServerKey, sealed: Buffer) =>
    JSON.parse(sealer.openText(sealed, contextOf(key))) as Client;
  /** One whose key is lost is as good as none: the service registers anew. */
  const open = (key: ServerKey, sealed: Buffer | null): Client | undefined =>
    sealed === null ? undefined : unlessLost(deps.lostKeyIds, () => read(key, sealed));
  const isBelieved = (checkedAt: Date | null) =>
    checkedAt !== null && now().getTime() - checkedAt.getTime() < BELIEVED_MS;

  /** With the lease held, which every way out gives back. */
  async function register(
    asked: ServerAsked,
    leaseId: string,
    { sealedClient, checkedAt }: Registration,
  ): Promise<Client> {
    const { perServer } = asked.provider;
    try {
      const known = open(asked, sealedClient);
      // Between the look and the lease another may have done it.
      if (known !== undefined && isBelieved(checkedAt)) {
        await releaseRegistration(database, asked, leaseId);
        return known;
      }
      const isKnown = known !== undefined && (await perServer.isRegistered(known, asked));
      const client = isKnown ? known : await perServer.register(asked);
      await storeRegistration(database, asked, {
        ...{ leaseId, sealedClient: seal(asked, client), checkedAt: now() },
      });
      return client;
    } catch (error) {
      await releaseRegistration(database, asked, leaseId);
      throw error;
    }
  }

  async function obtain(asked: ServerAsked): Promise<Client> {
    for (let waitedMs = 0; waitedMs < WAIT_MS_MAX; waitedMs += WAIT_STEP_MS) {
      const found = await findRegistration(database, asked);
      const believed = found && isBelieved(found.checkedAt) ? open(asked, found.sealedClient) : undefined;
      if (believed !== undefined) return believed;
      const leaseId = newLeaseId();
      const claimed = await claimRegistration(database, asked, { leaseId, leaseMs: LEASE_MS });
      if (claimed !== undefined) return register(asked, leaseId, claimed);
      await sleep(WAIT_STEP_MS);
    }
    throw new ConnectorError('platform_unavailable', 'another login is still being prepared at this server');
  }

  function toClient(
    { clientId, clientSecret }: Client,
    { provider, address }: Pick<ServerAsked, 'provider' | 'address'>,
  ): OAuthClient {
    return {
      ...{ clientId, clientSecret },
      authorizeUrl: new URL(provider.authorizeUrl, address).href,
      tokenUrl: new URL(provider.tokenUrl, address).href,
    };
  }

  return {
    clientAt: async (asked) => toClient(await obtain(asked), asked),
    async knownClient(asked) {
      const found = await findRegistration(database, asked);
      const sealed = found?.sealedClient ?? null;
      const known = sealed === null ? undefined : ifReadable(() => read(asked, sealed));
      return known === undefined ? null : toClient(known, asked);
    },
    forget: (key) => forgetRegistration(database, key),
    purge: () =>
      deleteUnusedRegistrations(database, {
        before: new Date(now().getTime() - KEPT_MS),
        limit: PURGED_AT_ONCE,
      }),
  };
}
