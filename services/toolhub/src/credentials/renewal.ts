import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, isAwayFrom } from '@libs/db';
import type { Actor } from '../audit/entry.ts';
import type { AuditService } from '../audit/service.ts';
import { type Connector, ConnectorError, type RefreshOutcome } from '../connectors/connector.ts';
import type { ConnectorService } from '../connectors/service.ts';
import type { EmitEvent } from '../events/event.ts';
import {
  type CredentialKey,
  type CredentialRow,
  INTERNAL_CUSTOMER,
  type OpenedCredential,
  type OpenResult,
} from './credential.ts';
import type { CountRefresh } from './metrics.ts';
import { claimRenewal, findCredential, markExpired, releaseRenewal, storeRenewed } from './store.ts';
import type { Vault } from './vault.ts';

/** The platform is asked for no longer than this, which is well within the lease. */
const REFRESH_TIMEOUT_MS = 25_000;
const LEASE_MS = 60_000;
const WAIT_STEP_MS = 25;
const WAIT_STEP_MS_MAX = 400;
const WAIT_MS_MAX = LEASE_MS;
/** A renewed pair exists nowhere else, so a passing failure of the database must not lose it. */
const STORE_ATTEMPTS_MAX = 5;
const STORE_RETRY_MS = 200;
/** While the database is away, nobody else can renew either: it is waited for until the lease ends. */
const AWAY_PAUSE_MS = 500;

/** Whoever asked for the call that found it out, the token has come to its end by itself. */
const SYSTEM: Actor = { type: 'system', id: 'credentials' };

export interface RenewalDependencies {
  database: Database;
  vault: Vault;
  connectors: ConnectorService;
  emitEvent: EmitEvent;
  audit: Pick<AuditService, 'recordIn'>;
  newLeaseId: () => string;
  countRefresh?: CountRefresh;
  now: () => Date;
  /** Tests shorten both. */
  leaseMs?: number;
  awayPauseMs?: number;
}

/** `changed`: someone else renewed, replaced or removed it meanwhile; what is there now has to be looked at anew. */
export type RenewalResult = OpenResult | { kind: 'changed' };

export interface RenewInput {
  /** The platform refused the token already: that its time is not over yet is no comfort then. */
  isRefused: boolean;
  /** Long before its end: a refusal then says nothing about the token that is there. */
  isAhead?: boolean;
}

export interface Renewal {
  /** Renews this version once, however many calls in however many processes ask for it. */
  renew(row: CredentialRow, input: RenewInput): Promise<RenewalResult>;
  /** Marks this version as of no more use, notes it in the log and tells the customer. */
  expire(key: CredentialKey, input: { version: number; reason: string }): Promise<void>;
}

/** The right to renew, and when by the clock of this process it is over at the earliest. */
interface HeldRenewal {
  id: string;
  endsAtMs: number;
}

export function openedOf(row: CredentialRow, credential: unknown): OpenedCredential {
  return {
    platform: row.platform,
    customerId: row.customerId === INTERNAL_CUSTOMER ? null : row.customerId,
    account: row.account,
    credential,
    version: row.version,
  };
}

export function createRenewal(deps: RenewalDependencies): Renewal {
  const { database, vault, connectors, now, leaseMs = LEASE_MS, awayPauseMs = AWAY_PAUSE_MS } = deps;
  const underWay = new Map<string, Promise<RenewalResult>>();

  async function expire(
    key: CredentialKey,
    { version, reason }: { version: number; reason: string },
  ): Promise<void> {
    await database.transaction(async (tx) => {
      const row = await markExpired(tx, key, { version, now: now() });
      if (row === undefined) return;
      const line = { customerId: row.customerId, actor: SYSTEM, action: 'credential.expired' };
      const end = { target: row.platform, outcome: 'success' as const, ip: null, requestId: null };
      await deps.audit.recordIn(tx, [{ ...line, ...end }]);
      if (row.customerId === INTERNAL_CUSTOMER) return;
      const data = { platform: row.platform, account: row.account, reason };
      await deps.emitEvent(tx, { customerId: row.customerId, type: 'credential.expired', data });
    });
  }

  const worksStill = ({ expiresAt }: CredentialRow) => expiresAt !== null && expiresAt > now();

  async function refreshAtPlatform(row: CredentialRow, credential: unknown): Promise<RefreshOutcome> {
    const connector = connectors.find(row.platform) as Connector;
    if (connector.renewAheadMs !== undefined && row.expiresAt !== null && !worksStill(row))
      return { kind: 'refused', reason: 'the token has expired' };
    const context = connectors.context({
      platform: row.platform,
      credential,
      customerId: openedOf(row, credential).customerId,
      account: row.account,
      signal: AbortSignal.timeout(REFRESH_TIMEOUT_MS),
    });
    if (connector.refresh === undefined) return { kind: 'refused', reason: 'this platform has no refresh' };
    try {
      return await connector.refresh(context);
    } catch (error) {
      if (!context.signal.aborted) throw error;
      throw new ConnectorError('platform_unavailable', 'the platform did not renew the token in time', {
        cause: error,
      });
    }
  }

  /** Runs with the lease held; every way out gives it back. */
  async function renewHeld(
    row: CredentialRow,
    { lease, isRefused, isAhead = false }: RenewInput & { lease: HeldRenewal },
  ): Promise<RenewalResult> {
    let credential: unknown;
    let outcome: RefreshOutcome;
    try {
      credential = vault.open(row, row.sealed);
      outcome = await refreshAtPlatform(row, credential);
      deps.countRefresh?.(row.platform, outcome.kind === 'refused' ? 'refused' : 'renewed');
      if (outcome.kind === 'refused' && isAhead && worksStill(row)) {
        await releaseRenewal(database, row, lease.id);
        return { kind: 'ok', opened: openedOf(row, credential) };
      }
      if (outcome.kind === 'refused') {
        await expire(row, { version: row.version, reason: outcome.reason });
        return { kind: 'token_expired' };
      }
    } catch (error) {
      await releaseRenewal(database, row, lease.id);
      if (!(error instanceof ConnectorError)) throw error;
      deps.countRefresh?.(row.platform, 'unavailable');
      // The margin exists for this: while the old token still works, the call need not fail.
      return !isRefused && worksStill(row)
        ? { kind: 'ok', opened: openedOf(row, credential) }
        : { kind: 'unavailable', error };
    }
    const stored = await storePair(row, lease, outcome.credential);
    return stored === undefined
      ? { kind: 'changed' }
      : { kind: 'ok', opened: openedOf(stored, outcome.credential) };
  }

  async function storePair(
    row: CredentialRow,
    lease: HeldRenewal,
    credential: unknown,
  ): Promise<CredentialRow | undefined> {
    const connector = connectors.find(row.platform) as Connector;
    let refusals = 0;
    for (;;) {
      try {
        return await storeRenewed(database, row, {
          leaseId: lease.id,
          sealed: vault.seal(row, credential),
          expiresAt: connector.expiresAt?.(credential) ?? null,
          refreshable: connectors.isRefreshable(row.platform, credential),
          now: now(),
        });
      } catch (error) {
        const isAway = isAwayFrom(database, error);
        if (!isAway) refusals += 1;
        const pauseMs = isAway ? awayPauseMs : STORE_RETRY_MS * refusals;
        const isTooLate = performance.now() + pauseMs >= lease.endsAtMs;
        if (refusals >= STORE_ATTEMPTS_MAX || isTooLate) throw error;
        await sleep(pauseMs);
      }
    }
  }

  async function renewOrWait(stale: CredentialRow, input: RenewInput): Promise<RenewalResult> {
    let stepMs = WAIT_STEP_MS;
    for (let waitedMs = 0; waitedMs < WAIT_MS_MAX; waitedMs += stepMs) {
      const lease = { id: deps.newLeaseId(), endsAtMs: performance.now() + leaseMs };
      const claim = { leaseId: lease.id, leaseMs, version: stale.version };
      const held = await claimRenewal(database, stale, claim);
      if (held !== undefined) return renewHeld(held, { lease, ...input });
      const current = await findCredential(database, stale);
      if (current?.version !== stale.version || current.status === 'expired') return { kind: 'changed' };
      await sleep(stepMs);
      stepMs = Math.min(stepMs * 2, WAIT_STEP_MS_MAX);
    }
    const error = new ConnectorError('platform_unavailable', 'another call is still renewing the token');
    return { kind: 'unavailable', error };
  }

  return {
    expire,
    renew(row, input) {
      const name = JSON.stringify([
        row.customerId,
        row.platform,
        row.slot,
        row.version,
        input.isRefused,
        input.isAhead,
      ]);
      const known = underWay.get(name);
      if (known !== undefined) return known;
      const renewing = renewOrWait(row, input).finally(() => underWay.delete(name));
      underWay.set(name, renewing);
      return renewing;
    },
  };
}
