import type { Database, Queryable } from '@libs/db';
import { SealError, type Sealer } from '@libs/seal';
import type { AuditService } from '../audit/service.ts';
import { type Connector, ConnectorError, type VerifyOutcome } from '../connectors/connector.ts';
import type { ConnectorService } from '../connectors/service.ts';
import type { Standing } from '../customers/standing.ts';
import { errors } from '../errors.ts';
import type { EmitEvent } from '../events/event.ts';
import type { Connections } from './connections.ts';
import {
  type CredentialKey,
  type CredentialRecord,
  type CredentialRow,
  INTERNAL_CUSTOMER,
  type OpenedCredential,
  type OpenInput,
  type OpenResult,
} from './credential.ts';
import type { InternalAccount, InternalAccounts } from './internal-accounts.ts';
import type { CountRefresh } from './metrics.ts';
import { createRenewal, openedOf, type RenewInput } from './renewal.ts';
import {
  deleteCredential,
  findCredential,
  holdVersion,
  listCredentials,
  listCustomersOf,
  lockCredential,
  putCredential,
  renameCredential,
  retryExpired,
  seedCredential,
} from './store.ts';
import { createUpkeep } from './upkeep.ts';
import { createVault } from './vault.ts';

/** A token counts as expired this long before it is, so that it does not die on the way to the platform. */
const EXPIRY_MARGIN_MS = 60_000;
const VERIFY_TIMEOUT_MS = 25_000;
const LEAVE_TIMEOUT_MS = 5_000;
const RENEWALS_MAX = 3;
/** A configured account that was refused is asked for again no sooner than this. */
const RETRY_MS = 10 * 60_000;
/** The version of a configured account that needs no row; those of rows begin with the moment. */
const NO_ROW = 0;

export interface CredentialServiceDependencies {
  database: Database;
  sealer: Sealer;
  connectors: ConnectorService;
  connections: Pick<Connections, 'transaction'>;
  internalAccounts: InternalAccounts;
  emitEvent: EmitEvent;
  audit: Pick<AuditService, 'recordIn'>;
  newLeaseId: () => string;
  now: () => Date;
  countRefresh?: CountRefresh;
  /** Told about rows that do not open: moved, changed, or sealed with a key that is gone. */
  onUnreadable: (error: SealError, key: CredentialKey) => void;
}

export interface PutInput {
  customerId: string;
  platform: string;
  /** Fits the connector's schema already. */
  credential: unknown;
  verify: boolean;
  standing: Standing;
}

export interface CredentialService {
  put(input: PutInput): Promise<CredentialRecord>;
  list(input: { customerId: string; after: string; limit: number }): Promise<CredentialRecord[]>;
  get(customerId: string, platform: string): Promise<CredentialRecord | undefined>;
  /** Customers who have connected the platform, in the order of their ids. */
  customersOf(platform: string, page: { after: string; limit: number }): Promise<string[]>;
  /** False when there was none. */
  remove(customerId: string, platform: string): Promise<boolean>;
  /** The credential for a call: expiry checked, renewed where it can be. */
  open(input: OpenInput): Promise<OpenResult>;
  /**
   * For a call that the platform refused as expired: renews once and opens anew, or marks the credential as expired.
   * A credential that someone renewed in the meantime is simply opened.
   */
  openAfterRefusal(refused: OpenedCredential): Promise<OpenResult>;
  /**
   * Whether the customer is still connected by exactly this. If so, whoever disconnects it, or puts another in its place,
   * waits for the end of the transaction.
   */
  hold(tx: Queryable, opened: { customerId: string; platform: string; version: number }): Promise<boolean>;
  /** The account goes by another name from now on; nothing happens where another credential has taken its place. */
  rename(opened: OpenedCredential, account: string): Promise<void>;
  readonly internalAccounts: InternalAccounts;
  /** Renewals ahead and warnings. */
  readonly jobs: ReturnType<typeof createUpkeep>;
}

export function createCredentialService(deps: CredentialServiceDependencies): CredentialService {
  const { database, connectors, now } = deps;
  const vault = createVault(deps.sealer);
  const renewal = createRenewal({ ...deps, vault });

  const customerKey = (customerId: string, platform: string): CredentialKey => ({
    customerId,
    platform,
    slot: '',
  });

  const internalKey = ({ platform, name }: InternalAccount): CredentialKey => ({
    customerId: INTERNAL_CUSTOMER,
    platform,
    slot: name,
  });

  function isDue(expiresAt: Date | null, marginMs: number): boolean {
    return expiresAt !== null && expiresAt.getTime() - marginMs <= now().getTime();
  }

  /** Whether its time is over, and nothing but another credential helps. */
  function hasRunOut(row: Pick<CredentialRow, 'platform' | 'refreshable' | 'expiresAt'>): boolean {
    // Some platforms renew a token only while it works.
    const isRenewedLate = row.refreshable && connectors.find(row.platform)?.renewAheadMs === undefined;
    return isDue(row.expiresAt, 0) && !isRenewedLate;
  }

  function toRecord(row: CredentialRow): CredentialRecord {
    return {
      platform: row.platform,
      account: row.account,
      status: hasRunOut(row) ? 'expired' : row.status,
      expiresAt: row.expiresAt,
      updatedAt: row.updatedAt,
    };
  }

  /** A row that does not open is of no use to anyone but a thief: to the customer it is as if it were not there. */
  function unseal(row: CredentialRow): { credential: unknown } | undefined {
    try {
      return { credential: vault.open(row, row.sealed) };
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      deps.onUnreadable(error, row);
      return undefined;
    }
  }

  async function openRow(row: CredentialRow | undefined): Promise<OpenResult> {
    if (row === undefined) return { kind: 'not_connected' };
    const plain = unseal(row);
    if (plain === undefined) return { kind: 'not_connected' };
    if (row.status === 'expired') return { kind: 'token_expired' };
    if (row.refreshable && isDue(row.expiresAt, EXPIRY_MARGIN_MS)) return renewRow(row, { isRefused: false });
    if (isDue(row.expiresAt, 0)) {
      await renewal.expire(row, { version: row.version, reason: 'the token has expired' });
      return { kind: 'token_expired' };
    }
    return { kind: 'ok', opened: openedOf(row, plain.credential) };
  }

  /** What changed meanwhile may itself be due: then that is renewed, and so on within reason. */
  async function renewRow(stale: CredentialRow, input: RenewInput): Promise<OpenResult> {
    let row = stale;
    for (let attempt = 0; attempt < RENEWALS_MAX; attempt += 1) {
      const result = await renewal.renew(row, input);
      if (result.kind !== 'changed') return result;
      const current = await findCredential(database, row);
      const isDueAgain =
        current?.status === 'connected' && current.refreshable && isDue(current.expiresAt, EXPIRY_MARGIN_MS);
      if (!isDueAgain) return openRow(current);
      row = current;
    }
    const error = new ConnectorError(
      'platform_unavailable',
      'the credential keeps changing while it is renewed',
    );
    return { kind: 'unavailable', error };
  }

  async function openInternal(account: InternalAccount | undefined): Promise<OpenResult> {
    if (account === undefined) return { kind: 'not_connected' };
    const { platform, name, credential } = account;
    const connector = connectors.find(platform) as Connector;
    if (connectors.isRefreshable(platform, credential)) {
      const row = await triedAgain(await findOrSeed(connector, account));
      const opened = await openRow(row);
      // Its key is lost, and with it what was renewed: what the settings have may still work.
      return opened.kind === 'not_connected' ? openRow(await seedAnew(connector, account, row)) : opened;
    }
    if (isDue(connector.expiresAt?.(credential) ?? null, 0)) return { kind: 'token_expired' };
    return { kind: 'ok', opened: { platform, customerId: null, account: name, credential, version: NO_ROW } };
  }

  /** Renewed tokens have to be kept somewhere: configured accounts that can be renewed get a row that starts as they are. */
  async function findOrSeed(connector: Connector, account: InternalAccount): Promise<CredentialRow> {
    const known = await findCredential(database, internalKey(account));
    return known?.seed === account.seed ? known : seedAnew(connector, account);
  }

  /** Nobody connects a configured account anew, and what refused it may have passed. */
  async function triedAgain(row: CredentialRow): Promise<CredentialRow> {
    const givenUpBefore = new Date(now().getTime() - RETRY_MS);
    if (row.status !== 'expired' || row.updatedAt > givenUpBefore) return row;
    const retried = await retryExpired(database, row, { version: row.version, givenUpBefore, now: now() });
    return retried ?? (await findCredential(database, row)) ?? row;
  }

  async function seedAnew(
    connector: Connector,
    account: InternalAccount,
    unreadable?: CredentialRow,
  ): Promise<CredentialRow> {
    const key = internalKey(account);
    const { name, credential, seed } = account;
    const row = newRow(connector, key, { credential, account: name, seed });
    const seeded = await seedCredential(database, row, unreadable?.version ?? null);
    return seeded ?? ((await findCredential(database, key)) as CredentialRow);
  }

  function newRow(
    connector: Connector,
    key: CredentialKey,
    { credential, account, seed }: { credential: unknown; account: string; seed: string | null },
  ) {
    return {
      ...key,
      account,
      seed,
      status: 'connected' as const,
      sealed: vault.seal(key, credential),
      expiresAt: connector.expiresAt?.(credential) ?? null,
      refreshable: connectors.isRefreshable(key.platform, credential),
      now: now(),
    };
  }

  async function checkAddresses(platform: string, credential: unknown): Promise<void> {
    const refused = await connectors.refusedAddresses(platform, credential);
    if (refused.length === 0) return;
    throw errors.address_refused({
      errors: refused.map(({ pointer, detail }) => ({
        pointer,
        code: 'address_refused',
        detail: withAllowHint(detail),
      })),
    });
  }

  async function verifyAtPlatform(
    connector: Connector,
    { customerId, credential }: PutInput,
  ): Promise<Extract<VerifyOutcome, { kind: 'accepted' }>> {
    const account = connector.auth.accountLabel(credential);
    const signal = AbortSignal.timeout(VERIFY_TIMEOUT_MS);
    const context = connectors.context({ platform: connector.id, credential, customerId, account, signal });
    let outcome: VerifyOutcome;
    try {
      outcome = await connector.verify(context);
    } catch (error) {
      if (!(error instanceof ConnectorError) && !signal.aborted) throw error;
      const isRefused = error instanceof ConnectorError && error.code === 'address_refused';
      const detail = error instanceof ConnectorError ? error.message : 'The platform did not answer in time.';
      throw isRefused
        ? errors.address_refused({ detail: withAllowHint(detail), cause: error })
        : errors.platform_unreachable({ detail, cause: error });
    }
    if (outcome.kind === 'rejected') throw errors.credential_rejected({ detail: outcome.reason });
    return outcome;
  }

  /** Disconnecting works whether or not the platform can be told of it. */
  async function leavePlatform(customerId: string, platform: string): Promise<void> {
    const connector = connectors.find(platform);
    if (connector?.leave === undefined) return;
    const row = await findCredential(database, customerKey(customerId, platform));
    const plain = row === undefined ? undefined : unseal(row);
    if (row === undefined || plain === undefined) return;
    const signal = AbortSignal.timeout(LEAVE_TIMEOUT_MS);
    const { account } = row;
    try {
      await connector.leave(connectors.context({ platform, customerId, account, signal, ...plain }));
    } catch (error) {
      if (!(error instanceof ConnectorError) && !signal.aborted) throw error;
    }
  }

  return {
    internalAccounts: deps.internalAccounts,
    jobs: createUpkeep({ ...deps, renewal }),

    async put(input) {
      const connector = connectors.find(input.platform) as Connector;
      if (connector.auth.alwaysVerified && !input.verify) throw errors.verification_required();
      await checkAddresses(input.platform, input.credential);
      const { account, identity = null } = input.verify
        ? await verifyAtPlatform(connector, input)
        : { account: connector.auth.accountLabel(input.credential) };
      const key = customerKey(input.customerId, input.platform);
      const row = newRow(connector, key, { credential: input.credential, account, seed: null });
      return deps.connections.transaction(input.customerId, async (tx, changed) => {
        await input.standing(tx);
        const before = await lockCredential(tx, key);
        if (before === undefined) changed();
        // What is over already ends nothing that was expired: the end was told, and the next that works is the recovery.
        const status = before?.status === 'expired' && hasRunOut(row) ? 'expired' : 'connected';
        const stored = await putCredential(tx, { ...row, status });
        const { customerId, credential } = input;
        await connector.claim?.(tx, { customerId, credential, identity, at: now() });
        if (before?.status === 'expired' && stored.status === 'connected') {
          const data = { platform: input.platform, account };
          await deps.emitEvent(tx, { customerId: input.customerId, type: 'credential.recovered', data });
        }
        return toRecord(stored);
      });
    },

    async list(input) {
      return (await listCredentials(database, input)).map(toRecord);
    },

    async get(customerId, platform) {
      const row = await findCredential(database, customerKey(customerId, platform));
      return row && toRecord(row);
    },

    customersOf: (platform, page) => listCustomersOf(database, { platform, ...page }),

    async remove(customerId, platform) {
      await leavePlatform(customerId, platform);
      return deps.connections.transaction(customerId, async (tx, changed) => {
        const isGone = await deleteCredential(tx, customerKey(customerId, platform));
        if (!isGone) return false;
        changed();
        await connectors.find(platform)?.forget?.(tx, customerId);
        return true;
      });
    },

    async open({ session, platform, account }) {
      if (session.kind === 'internal') return openInternal(deps.internalAccounts.find(platform, account));
      return openRow(await findCredential(database, customerKey(session.customerId, platform)));
    },

    async openAfterRefusal(refused) {
      const { platform, customerId, version } = refused;
      // A row of its name would be from older settings, and perhaps of another account.
      if (version === NO_ROW) return { kind: 'token_expired' };
      const key = {
        customerId: customerId ?? INTERNAL_CUSTOMER,
        platform,
        slot: customerId === null ? refused.account : '',
      };
      const row = await findCredential(database, key);
      if (row === undefined) return { kind: 'not_connected' };
      if (row.version !== version || row.status === 'expired') return openRow(row);
      if (row.refreshable) return renewRow(row, { isRefused: true });
      await renewal.expire(key, { version, reason: 'the platform refused the token' });
      return { kind: 'token_expired' };
    },

    hold: (tx, { customerId, platform, version }) =>
      holdVersion(tx, customerKey(customerId, platform), version),

    async rename({ customerId, platform, version }, account) {
      // The operator has given configured accounts their names.
      if (customerId !== null)
        await renameCredential(database, customerKey(customerId, platform), { version, account });
    },
  };
}

/** Mail servers of the operator's own network are the usual case: whoever reads this learns what to set. */
function withAllowHint(detail: string): string {
  return `${detail.replace(/[.]?$/, '.')} Whoever runs this service can allow it with TOOLHUB_EGRESS_ALLOW.`;
}
