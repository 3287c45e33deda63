import type { Changes, Database, Queryable, Transaction } from '@libs/db';
import { hashToken, type NewId, newToken, type RandomBytes } from '@libs/seal';
import { errors } from '../errors.ts';
import { type Mode, type Tenant, tenantOf } from '../tenant.ts';
import { KeyCache, type KnownKey } from './cache.ts';
import {
  type ApiKey,
  scopes as allScopes,
  type Caller,
  looksLikeKey,
  type Organisation,
  SANDBOX_KEY_ID,
  SANDBOX_ORGANISATION_ID,
  SANDBOX_TOKEN,
  type Scope,
  tokenPrefix,
} from './key.ts';
import {
  countWorkingKeys,
  endKey,
  endKeysOf,
  findKeyByHash,
  holdKey,
  holdLiveAccess,
  holdTestEpoch,
  insertKey,
  insertOrganisation,
  listKeys,
  lockKey,
  organisationExists,
  raiseTestEpoch,
} from './store.ts';

const HINT_CHARACTERS = 4;
const LOADS_MAX = 1_000;
/** Of an organisation in one mode. */
const WORKING_KEYS_MAX = 1_000;

export interface KeyServiceDependencies {
  database: Database;
  changes: Pick<Changes, 'publish' | 'on' | 'isLive'>;
  sandboxOn: boolean;
  now: () => Date;
  nowMs: () => number;
  newId: NewId;
  randomBytes: RandomBytes;
}

/** A key with its token, which is shown once and stored nowhere. */
export interface NewKey {
  key: ApiKey;
  token: string;
}

export interface NewOrganisation {
  organisation: Organisation;
  test: NewKey;
  live: NewKey;
}

export interface KeyRequest {
  organisationId: string;
  mode: Mode;
  name: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
}

/** Whose keys somebody may touch; the operator may touch all. */
export type KeyOwner = Pick<ApiKey, 'organisationId' | 'mode'>;

export interface KeyRoll {
  overlapSeconds: number;
  owner?: KeyOwner;
}

export interface KeyService {
  /** Who the token belongs to; undefined for a token that is unknown, expired or revoked. Sync for a known key. */
  authenticate(token: string): Caller | undefined | Promise<Caller | undefined>;
  /** As the operator does: with a test and a live key, and approved for live ones. */
  createOrganisation(tx: Queryable, name: string): Promise<NewOrganisation>;
  /** As a person does: with no key yet. */
  addOrganisation(tx: Queryable, request: Pick<Organisation, 'name' | 'liveAccess'>): Promise<Organisation>;
  createKey(tx: Queryable, request: KeyRequest): Promise<NewKey>;
  /** The same for people, who get live keys for an approved organisation alone. */
  createOwnKey(tx: Queryable, request: KeyRequest): Promise<NewKey>;
  /** A new key takes over from an old one, which goes on working for the overlap; once. */
  rollKey(tx: Queryable, id: string, request: KeyRoll): Promise<NewKey>;
  /** Whether the key still works; if so, nobody revokes it before the transaction ends. */
  holdKey(tx: Queryable, id: string): Promise<boolean>;
  /** Another owner's key than the one that is named is as unknown as none. Answers whose it was. */
  revokeKey(id: string, owner?: KeyOwner): Promise<KeyOwner>;
  /** Every key of an organisation in these modes. */
  revokeAll(tx: Queryable, organisationId: string, modes: readonly Mode[]): Promise<void>;
  listKeys(organisationId: string, page: { before: string | null; limit: number }): Promise<ApiKey[]>;
  /** Newest first; `before` is the id of the last one that was shown. */
  listKeysOf(owner: KeyOwner, page: { before: string | null; limit: number }): Promise<ApiKey[]>;
  /**
   * The tenant as which the organisation goes on in that mode, which may have been reset since the caller was recognised;
   * nobody resets it before the transaction ends.
   */
  holdTenant(tx: Queryable, tenant: Tenant): Promise<Tenant>;
  /** The organisation's test mode goes on as another tenant, for all of its keys and in every process. */
  openNextEpoch(tx: Transaction, organisationId: string): Promise<{ closed: Tenant; opened: Tenant }>;
  /** Makes the published sandbox key work, where the sandbox is on. */
  ensureSandbox(): Promise<void>;
}

export function createKeyService(options: KeyServiceDependencies): KeyService {
  const { database, changes, now, newId } = options;
  const cache = new KeyCache({ isLive: changes.isLive, nowMs: options.nowMs });
  changes.on('key', (id) => cache.forget(id));
  changes.on('sandbox', (id) => (id === null ? cache.forget(null) : cache.forgetOrganisation(id)));
  const authenticate = createAuthenticate(options, cache);

  async function addKey(tx: Queryable, request: KeyRequest): Promise<NewKey> {
    const token = newToken(tokenPrefix(request.mode), options.randomBytes);
    const key: ApiKey = {
      ...request,
      id: newId('key'),
      hint: token.slice(-HINT_CHARACTERS),
      revokedAt: null,
      replacedBy: null,
      createdAt: now(),
    };
    await insertKey(tx, key, hashToken(token));
    return { key, token };
  }

  const addOrganisation: KeyService['addOrganisation'] = async (tx, { name, liveAccess }) => {
    const organisation = { id: newId('org'), name, liveAccess, createdAt: now() };
    await insertOrganisation(tx, organisation);
    return organisation;
  };

  /** Held until the end: the answer that takes live access away ends all keys that were made before it, and none comes after. */
  async function requireApproval(tx: Queryable, { organisationId, mode }: KeyOwner): Promise<void> {
    if (mode === 'live' && (await holdLiveAccess(tx, organisationId)) !== 'approved') {
      throw errors.live_access_required();
    }
  }

  const createKey: KeyService['createKey'] = async (tx, request) => {
    if (!(await organisationExists(tx, request.organisationId))) throw noOrganisation();
    if ((await countWorkingKeys(tx, request, now())) >= WORKING_KEYS_MAX) {
      throw errors.limit_reached({
        detail: `At most ${WORKING_KEYS_MAX} keys of a mode can work at once.`,
      });
    }
    return addKey(tx, request);
  };

  return {
    authenticate,
    addOrganisation,
    createKey,

    async createOwnKey(tx, request) {
      await requireApproval(tx, request);
      return createKey(tx, request);
    },

    async createOrganisation(tx, name) {
      const organisation = await addOrganisation(tx, { name, liveAccess: 'approved' });
      const shared = { organisationId: organisation.id, name: 'default', scopes: allScopes, expiresAt: null };
      const test = await addKey(tx, { ...shared, mode: 'test' });
      const live = await addKey(tx, { ...shared, mode: 'live' });
      return { organisation, test, live };
    },

    async rollKey(tx, id, { overlapSeconds, owner }) {
      if (owner !== undefined) await requireApproval(tx, owner);
      const old = await lockKey(tx, id);
      if (old === undefined || !isOf(old, owner)) throw noKey();
      const at = now();
      if (hasEnded(old, at)) {
        throw errors.state_conflict({ detail: 'A key that is revoked or expired cannot be rolled.' });
      }
      if (old.replacedBy !== null) throw replacedBefore(old.replacedBy);
      const { organisationId, mode, name, scopes, expiresAt } = old;
      const added = await addKey(tx, { organisationId, mode, name, scopes, expiresAt });
      const overlapEnd = new Date(at.getTime() + overlapSeconds * 1_000);
      const end = expiresAt !== null && expiresAt < overlapEnd ? expiresAt : overlapEnd;
      const revokedAt = overlapSeconds === 0 ? at : null;
      await endKey(tx, id, { expiresAt: end, revokedAt, replacedBy: added.key.id });
      await changes.publish(tx, 'key', id);
      return added;
    },

    holdKey: (tx, id) => holdKey(tx, id, now()),

    revokeKey: (id, owner) =>
      database.transaction(async (tx) => {
        const key = await lockKey(tx, id);
        if (key === undefined || !isOf(key, owner)) throw noKey();
        if (key.revokedAt !== null) return key;
        await endKey(tx, id, { ...key, revokedAt: now() });
        await changes.publish(tx, 'key', id);
        return key;
      }),

    async revokeAll(tx, organisationId, modes) {
      for (const id of await endKeysOf(tx, { organisationId, modes }, now())) {
        await changes.publish(tx, 'key', id);
      }
    },

    async listKeys(organisationId, page) {
      if (!(await organisationExists(database, organisationId))) throw noOrganisation();
      return listKeys(database, { organisationId, mode: null, ...page });
    },

    listKeysOf: (owner, page) => listKeys(database, { ...owner, ...page }),

    async holdTenant(tx, tenant) {
      if (tenant.mode === 'live') return tenant;
      const epoch = await holdTestEpoch(tx, tenant.organisationId);
      return epoch === undefined ? tenant : tenantOf(tenant.organisationId, 'test', epoch);
    },

    async openNextEpoch(tx, organisationId) {
      const epoch = await raiseTestEpoch(tx, organisationId);
      await changes.publish(tx, 'sandbox', organisationId);
      // Here it holds before the answer goes out; the message is for the other processes.
      tx.afterCommit(() => cache.forgetOrganisation(organisationId));
      return {
        closed: tenantOf(organisationId, 'test', epoch - 1),
        opened: tenantOf(organisationId, 'test', epoch),
      };
    },

    async ensureSandbox() {
      if (!options.sandboxOn) return;
      const createdAt = now();
      await database.transaction(async (tx) => {
        await insertOrganisation(tx, {
          ...{ id: SANDBOX_ORGANISATION_ID, name: 'Sandbox', createdAt },
          liveAccess: 'none',
        });
        const key: ApiKey = {
          id: SANDBOX_KEY_ID,
          organisationId: SANDBOX_ORGANISATION_ID,
          mode: 'test',
          name: 'Published sandbox token',
          hint: SANDBOX_TOKEN.slice(-HINT_CHARACTERS),
          scopes: allScopes,
          expiresAt: null,
          revokedAt: null,
          replacedBy: null,
          createdAt,
        };
        await insertKey(tx, key, hashToken(SANDBOX_TOKEN));
      });
    },
  };
}

function isOf(key: ApiKey, owner: KeyOwner | undefined): boolean {
  return owner === undefined || (key.organisationId === owner.organisationId && key.mode === owner.mode);
}

function noKey(): Error {
  return errors.not_found({ detail: 'There is no such key.' });
}

/** Its own end is that of the overlap by now; the successor has the one that it was made for. */
function replacedBefore(successorId: string): Error {
  return errors.state_conflict({
    detail: `This key was rolled before: ${successorId} has replaced it. Roll that one if its secret is lost.`,
  });
}

function noOrganisation(): Error {
  return errors.not_found({ detail: 'There is no such organisation.' });
}

function hasEnded(key: ApiKey, at: Date): boolean {
  return key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= at);
}

function createAuthenticate(options: KeyServiceDependencies, cache: KeyCache): KeyService['authenticate'] {
  const { database, now } = options;
  const loads = new Map<string, Promise<KnownKey | undefined>>();

  function callerOf(known: KnownKey | undefined): Caller | undefined {
    return known !== undefined && known.expiresAtMs > now().getTime() ? known.caller : undefined;
  }

  async function load(token: string): Promise<KnownKey | undefined> {
    const begun = cache.begin();
    const found = await findKeyByHash(database, hashToken(token));
    if (found === undefined || found.key.revokedAt !== null) return undefined;
    const { key, testEpoch } = found;
    const known: KnownKey = {
      caller: {
        tenant: tenantOf(key.organisationId, key.mode, key.mode === 'test' ? testEpoch : 0),
        keyId: key.id,
        scopes: new Set(key.scopes),
      },
      expiresAtMs: key.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    };
    cache.set(token, known, begun);
    return known;
  }

  return (token) => {
    const known = cache.get(token);
    if (known !== undefined) return callerOf(known);
    if (!looksLikeKey(token) || (token === SANDBOX_TOKEN && !options.sandboxOn)) return undefined;
    // Requests that arrive together with a key that is not known yet share one look into the database.
    let loading = loads.get(token);
    if (loading === undefined) {
      if (loads.size >= LOADS_MAX) throw errors.overloaded({ retryAfterSeconds: 1 });
      loading = load(token).finally(() => loads.delete(token));
      loads.set(token, loading);
    }
    return loading.then(callerOf);
  };
}
