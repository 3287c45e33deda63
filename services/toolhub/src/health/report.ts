import { createHash } from 'node:crypto';
import type { CredentialRecord } from '../credentials/credential.ts';

export const HEALTH_STATUSES = [
  'ok',
  'degraded',
  'down',
  'token_expired',
  'not_connected',
  'unknown',
] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** One platform, in the form in which the API shows it and the cache keeps it. */
export interface PlatformHealth {
  platform: string;
  status: HealthStatus;
  token_expires_at: string | null;
  latency_ms: number | null;
  message: string | null;
}

export interface HealthReport {
  checkedAt: Date;
  /** The accounts that it was made of, see `accountsDigest`. */
  accounts: string;
  platforms: readonly PlatformHealth[];
}

export const REPORT_KEEP_MS = 10 * 60 * 1_000;

export function isFresh(
  report: HealthReport | undefined,
  accounts: string,
  now: Date,
): report is HealthReport {
  if (report === undefined || report.accounts !== accounts) return false;
  return report.checkedAt.getTime() + REPORT_KEEP_MS > now.getTime();
}

/** Differs after every change of a credential, and when one of them has run out. */
export function accountsDigest(records: readonly CredentialRecord[]): string {
  const parts = records.map(({ platform, account, status, expiresAt, updatedAt }) => [
    platform,
    account,
    status,
    expiresAt?.getTime() ?? null,
    updatedAt.getTime(),
  ]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
