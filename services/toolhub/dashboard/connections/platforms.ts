import { FOLLOW_MS, useList, useObject } from '../api/client.ts';
import { texts } from '../texts.ts';
import type { Schema } from '../tools/schema.ts';

export interface Login {
  provider: string;
  title: string;
  registered: boolean;
  server_parameter: string | null;
}

export interface Platform {
  platform: string;
  title: string;
  logins: Login[];
  credential_schema: Schema;
}

export interface Credential {
  platform: string;
  account: string;
  status: 'connected' | 'expired';
  expires_at: string | null;
  updated_at: string;
}

export type HealthStatus = 'ok' | 'degraded' | 'down' | 'token_expired' | 'not_connected' | 'unknown';

export interface PlatformHealth {
  platform: string;
  status: HealthStatus;
  token_expires_at: string | null;
  latency_ms: number | null;
  message: string | null;
}

export interface HealthReport {
  checked_at: string;
  platforms: PlatformHealth[];
}

export const CREDENTIALS_PATH = '/api/credentials';
export const HEALTH_PATH = '/api/health/platforms';
const CREDENTIALS_MAX = 100;
/** A check is kept for minutes, and is made anew for an account that was just connected. */
const HEALTH_FOLLOW_MS = 30_000;

export const usePlatforms = () => useList<Platform>('/api/platforms');
export const useCredentials = () =>
  useList<Credential>(CREDENTIALS_PATH, { limit: CREDENTIALS_MAX }, { refetchMs: () => FOLLOW_MS });
export const useHealth = () => useObject<HealthReport>(HEALTH_PATH, { refetchMs: HEALTH_FOLLOW_MS });

export function platformTitle(id: string): string {
  return texts.platforms[id] ?? id;
}
