import type { Database } from '@libs/db';
import { hashToken, type NewId } from '@libs/seal';
import {
  type Adapter,
  type AdapterPayload,
  type Context,
  errors as oauthErrors,
  Provider,
} from 'oidc-provider';
import type { Revocations } from '../../customers/revocations.ts';
import type { CustomerService } from '../../customers/service.ts';
import { findClient, upsertClient } from '../clients-store.ts';
import { findGrant, upsertGrant } from '../grants-store.ts';
import { deleteInteraction, findInteraction, upsertInteraction } from '../interactions-store.ts';
import {
  consumeCode,
  consumeRefreshToken,
  deleteFamily,
  deleteOAuthToken,
  findCode,
  findToken,
  insertCode,
  insertOAuthToken,
  type Spendable,
} from '../store.ts';
import type { Arrivals } from './arrivals.ts';
import { answeringOutages } from './outages.ts';
import { CLIENT_METADATA_BYTES_MAX } from './provider.ts';
import { isLateReuse, waitOutRace } from './spending.ts';
import { holdsOnlyStorable, isStorable } from './storable.ts';

export interface AdapterDependencies {
  database: Database;
  customers: Pick<CustomerService, 'findSessionById'>;
  revocations: Pick<Revocations, 'transaction'>;
  arrivals: Arrivals;
  newId: NewId;
  now: () => Date;
  /** The page that an interaction returns to. */
  returnTo(interactionId: string): string;
  onFamilyRevoked(family: { customerId: string; clientId: string }): Promise<void>;
  /** Throws for a `resource` that is not ours, before a code or a refresh token is touched. */
  checkResource(ctx: Context | undefined): void;
}

/** The library's storage interface over this service's tables. Secrets are looked up by hash and never stored. */
export function createAdapter(deps: AdapterDependencies): (model: string) => Adapter {
  const models: Record<string, () => Partial<Adapter>> = {
    Client: () => clients(deps),
    AuthorizationCode: () => codes(deps),
    AccessToken: () => tokens(deps, 'access'),
    RefreshToken: () => tokens(deps, 'refresh'),
    Grant: () => grants(deps),
    Interaction: () => interactions(deps),
    Session: () => sessions(deps),
  };
  return (model) => answeringOutages({ ...refuseAll(model), ...models[model]?.() }, deps.database);
}

/** Features that would need more storage are switched off; reaching this means that one was switched on. */
function refuseAll(model: string): Adapter {
  const refuse = () => Promise.reject(new Error(`${model} has no storage here`));
  return {
    upsert: refuse,
    find: refuse,
    findByUid: refuse,
    findByUserCode: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
  };
}

function withoutSecret({ jti: _secret, ...payload }: AdapterPayload): AdapterPayload {
  return payload;
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new TypeError(`the library gave no ${name}`);
  return value;
}

function requireStorable(payload: AdapterPayload): void {
  if (!holdsOnlyStorable(payload))
    throw new oauthErrors.InvalidRequest('the request holds characters that no text may have');
}

function expiryOf(payload: AdapterPayload): Date {
  if (typeof payload.exp !== 'number') throw new TypeError('the library gave no time of expiry');
  return new Date(payload.exp * 1000);
}

/** Long enough for the request that brings it. */
const REUSE_SECONDS = 60;

function withUse(
  id: string,
  stored: Spendable | undefined,
  deps: AdapterDependencies,
): AdapterPayload | undefined {
  if (stored === undefined) return undefined;
  const payload = { ...stored.payload, jti: id };
  if (!isLateReuse(stored, deps.arrivals.current()?.at ?? deps.now())) return payload;
  // The library looks at the expiry first; here the reuse is what matters, and it is answered by a revocation.
  return { ...payload, exp: Math.ceil(deps.now().getTime() / 1000) + REUSE_SECONDS, consumed: true };
}

function clients({ database, now }: AdapterDependencies): Partial<Adapter> {
  return {
    async upsert(id, payload) {
      requireStorable(payload);
      const { client_secret: secret, ...metadata } = payload;
      if (Buffer.byteLength(JSON.stringify(metadata)) > CLIENT_METADATA_BYTES_MAX)
        throw new oauthErrors.InvalidClientMetadata('the metadata is larger than what is kept of a client');
      await upsertClient(
        database,
        {
          id,
          kind: 'registered',
          metadata,
          redirectUris: payload.redirect_uris as string[],
          secretHash: typeof secret === 'string' ? hashToken(secret) : null,
        },
        now(),
      );
    },
    async find(id) {
      const found = isStorable(id) ? await findClient(database, id) : undefined;
      if (found === undefined) return undefined;
      const { metadata, secretHash } = found;
      // The library compares through `compareClientSecret`, which hashes what the client sent.
      return secretHash === null ? metadata : { ...metadata, client_secret: secretHash.toString('hex') };
    },
  };
}

function codes(deps: AdapterDependencies): Partial<Adapter> {
  const { database, now } = deps;
  return {
    async upsert(id, payload) {
      await insertCode(database, {
        customerId: text(payload.accountId, 'account'),
        codeHash: hashToken(id),
        grantId: text(payload.grantId, 'grant'),
        clientId: text(payload.clientId, 'client'),
        redirectUri: text(payload.redirectUri, 'redirect URI'),
        payload: withoutSecret(payload),
        createdAt: now(),
        expiresAt: expiryOf(payload),
      });
    },
    async find(id) {
      deps.checkResource(Provider.ctx);
      return withUse(id, await findCode(database, hashToken(id)), deps);
    },
    async consume(id) {
      const hash = hashToken(id);
      if (await consumeCode(database, hash, now())) return;
      await waitOutRace(deps, 'code', hash);
      throw new oauthErrors.InvalidGrant('authorization code already consumed');
    },
    // The access tokens' call takes the whole family, in one transaction.
    revokeByGrantId: async () => {},
  };
}

function tokens(deps: AdapterDependencies, kind: 'access' | 'refresh'): Partial<Adapter> {
  const { database, revocations, newId, now } = deps;
  return {
    async upsert(id, payload) {
      const stored = await insertOAuthToken(database, {
        customerId: text(payload.accountId, 'account'),
        id: newId('oat'),
        tokenHash: hashToken(id),
        kind,
        grantId: text(payload.grantId, 'grant'),
        clientId: text(payload.clientId, 'client'),
        scopes: (payload.scope ?? '').split(' ').filter((scope) => scope !== ''),
        audience: payload.aud ?? null,
        payload: withoutSecret(payload),
        createdAt: now(),
        expiresAt: expiryOf(payload),
      });
      if (!stored) throw new oauthErrors.InvalidGrant('the grant was revoked');
    },
    async find(id) {
      if (kind === 'refresh') deps.checkResource(Provider.ctx);
      return withUse(id, await findToken(database, hashToken(id), kind), deps);
    },
    async consume(id) {
      const hash = hashToken(id);
      if (await consumeRefreshToken(database, hash, now())) return;
      await waitOutRace(deps, 'refresh', hash);
      throw new oauthErrors.InvalidGrant('refresh token already used');
    },
    destroy: (id) =>
      revocations.transaction(async (tx, revoke) => {
        const gone = await deleteOAuthToken(tx, hashToken(id));
        if (gone !== undefined) await revoke({ tokenId: gone.id });
      }),
    revokeByGrantId: async (grantId) => {
      if (kind === 'refresh') return;
      const gone = await revocations.transaction(async (tx, revoke) => {
        const family = await deleteFamily(tx, grantId);
        await revoke({ family: grantId });
        return family;
      });
      if (gone !== undefined) await deps.onFamilyRevoked(gone);
    },
  };
}

function grants({ database, now }: AdapterDependencies): Partial<Adapter> {
  return {
    async upsert(id, payload) {
      await upsertGrant(database, {
        customerId: text(payload.accountId, 'account'),
        id,
        clientId: text(payload.clientId, 'client'),
        payload,
        createdAt: now(),
        expiresAt: expiryOf(payload),
      });
    },
    find: async (id) => (isStorable(id) ? findGrant(database, id, now()) : undefined),
    // Gone with its family already.
    destroy: async () => {},
  };
}

function interactions({ database, returnTo }: AdapterDependencies): Partial<Adapter> {
  return {
    async upsert(id, payload) {
      // Nobody is logged in: the request goes to the login page in its address, and strangers fill no table.
      if (payload.session === undefined) return;
      requireStorable(payload);
      const { returnTo: _derived, ...kept } = withoutSecret(payload);
      await upsertInteraction(database, {
        idHash: hashToken(id),
        payload: kept,
        expiresAt: expiryOf(payload),
      });
    },
    async find(id) {
      const payload = await findInteraction(database, hashToken(id));
      return payload && { ...payload, jti: id, returnTo: returnTo(id) };
    },
    destroy: (id) => deleteInteraction(database, hashToken(id)),
  };
}

/** Sessions are the platform's own; the library only asks whether the one that it saw is still there. */
function sessions({ customers }: AdapterDependencies): Partial<Adapter> {
  return {
    async findByUid(uid) {
      const found = isStorable(uid) ? await customers.findSessionById(uid) : undefined;
      if (found === undefined) return undefined;
      return {
        kind: 'Session',
        jti: found.id,
        uid: found.id,
        accountId: found.customerId,
        loginTs: Math.floor(found.createdAt.getTime() / 1000),
        exp: Math.floor(found.expiresAt.getTime() / 1000),
      };
    },
  };
}
