import { hash } from 'node:crypto';
import type { Database } from '@libs/db';
import { sealedColumn } from '@libs/rotation';
import { hashToken, ifReadable, newToken, type RandomBytes, type Sealer } from '@libs/seal';
import type { TokenSource } from '../customers/bearer.ts';
import { parseScopes } from '../customers/identity.ts';
import type { Revocations } from '../customers/revocations.ts';
import type { Standing } from '../customers/standing.ts';
import { findClientName, upsertClient } from './clients-store.ts';
import { deleteExpired } from './expiry-store.ts';
import {
  type ClientPlace,
  type ConnectedClient,
  findClientOf,
  grantBelongsTo,
  hasGrantFor,
  listConnectedClients,
} from './grants-store.ts';
import { insertConnect, takeConnect } from './interactions-store.ts';
import { OWN_CLIENT_ID, ownClientMetadata } from './provider/own-client.ts';
import { ACCESS_TOKEN_PREFIX, oauthPaths } from './provider/provider.ts';
import { ownCallback } from './provider/redirects.ts';
import { deleteFamily, findLiveAccessToken, markExchanged, type SpendableKind } from './store.ts';

const CONNECT_MS = 30 * 60_000;
const CONNECT_SCOPES = 'tools:read tools:write';

export interface OAuthService extends TokenSource {
  /** Writes the platform's own client as this version wants it; every start does. */
  upsertOwnClient(): Promise<void>;
  markExchanged(spent: { kind: SpendableKind; value: string }): Promise<void>;
  /** Whether this customer, or any (null), has let the client in. */
  hasConsent(clientId: string, customerId: string | null): Promise<boolean>;
  /** For a consent that was just stored: throws, and takes it back, where whoever gave it has been shut out meanwhile. */
  confirmConsent(grantId: string, standing: Standing): Promise<void>;
  /** What a client calls itself, or its id. */
  clientName(clientId: string): Promise<string>;
  /** The address that starts the connector's flow; what proves its end stays here. */
  beginConnect(): Promise<string>;
  /** The form that redeems the code, if the state is one that waits; it works once. */
  finishConnect(answer: { state: string; code: string }): Promise<Record<string, string> | undefined>;
  /** Forgets a state whose flow ended without a code. */
  dropConnect(state: string): Promise<boolean>;
  listClients(query: {
    customerId: string;
    before: ClientPlace | undefined;
    limit: number;
  }): Promise<ConnectedClient[]>;
  /** Who holds this access token, under an id that outlives it. */
  clientOf(token: { customerId: string; id: string }): Promise<{ id: string; name: string } | undefined>;
  /** False when the customer has no such client. */
  disconnectClient(grant: { customerId: string; id: string }): Promise<boolean>;
  purge(): Promise<void>;
}

function context(stateHash: Buffer): string {
  return `oauth_connects/${stateHash.toString('hex')}`;
}

export const sealedConnects = sealedColumn({
  table: 'oauth_connects',
  column: 'sealed_verifier',
  key: { state_hash: 'bytea' },
  contextOf: (row) => context(row.state_hash),
});

export function createOAuthService(deps: {
  database: Database;
  publicUrl: string;
  sealer: Sealer;
  randomBytes: RandomBytes;
  revocations: Pick<Revocations, 'transaction'>;
  now: () => Date;
}): OAuthService {
  const { database, publicUrl, sealer, randomBytes, now } = deps;
  const redirectUri = ownCallback(publicUrl);

  async function takeVerifier(state: string): Promise<string | undefined> {
    const stateHash = hashToken(state);
    const sealed = await takeConnect(database, stateHash, now());
    return sealed && ifReadable(() => sealer.openText(sealed, context(stateHash)));
  }

  return {
    prefix: ACCESS_TOKEN_PREFIX,

    async upsertOwnClient() {
      const metadata = ownClientMetadata(publicUrl);
      await upsertClient(
        database,
        { id: OWN_CLIENT_ID, kind: 'own', metadata, redirectUris: metadata.redirect_uris, secretHash: null },
        now(),
      );
    },

    async find(tokenHash, at) {
      const found = await findLiveAccessToken(database, tokenHash, at);
      if (found === undefined) return undefined;
      const { customerId, id, scopes, audience, expiresAt, grantId, clientName } = found;
      return {
        session: {
          kind: 'customer',
          customerId,
          via: 'oauth',
          tokenId: id,
          scopes: parseScopes(scopes.join(' ')),
          audience,
          clientName,
        },
        expiresAt,
        family: grantId,
      };
    },

    async markExchanged({ kind, value }) {
      await markExchanged(database, kind, hashToken(value), now());
    },

    clientName: async (clientId) => (await findClientName(database, clientId)) ?? clientId,

    hasConsent: (clientId, customerId) => hasGrantFor(database, { clientId, customerId }),

    async confirmConsent(grantId, standing) {
      await database.transaction(standing).catch(async (error: unknown) => {
        await database.transaction((tx) => deleteFamily(tx, grantId));
        throw error;
      });
    },

    async beginConnect() {
      const state = newToken('', randomBytes);
      const verifier = newToken('', randomBytes);
      const stateHash = hashToken(state);
      await insertConnect(database, {
        stateHash,
        sealedVerifier: sealer.seal(verifier, context(stateHash)),
        expiresAt: new Date(now().getTime() + CONNECT_MS),
      });
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: OWN_CLIENT_ID,
        redirect_uri: redirectUri,
        scope: CONNECT_SCOPES,
        resource: `${publicUrl}/mcp`,
        state,
        code_challenge: hash('sha256', verifier, 'base64url'),
        code_challenge_method: 'S256',
      });
      return `${publicUrl}${oauthPaths.authorize}?${query}`;
    },

    async finishConnect({ state, code }) {
      const verifier = await takeVerifier(state);
      if (verifier === undefined) return undefined;
      return {
        grant_type: 'authorization_code',
        client_id: OWN_CLIENT_ID,
        redirect_uri: redirectUri,
        code,
        code_verifier: verifier,
      };
    },

    dropConnect: async (state) => (await takeVerifier(state)) !== undefined,

    listClients: (query) => listConnectedClients(database, { ...query, now: now() }),

    async clientOf(token) {
      const found = await findClientOf(database, token);
      // Many programs share the platform's own client: each consent to it is a client by itself.
      return (
        found && { id: found.clientId === OWN_CLIENT_ID ? found.grantId : found.clientId, name: found.name }
      );
    },

    disconnectClient: (grant) =>
      deps.revocations.transaction(async (tx, revoke) => {
        if (!(await grantBelongsTo(tx, grant))) return false;
        await deleteFamily(tx, grant.id);
        await revoke({ family: grant.id });
        return true;
      }),

    purge: () => deleteExpired(database, now()),
  };
}
