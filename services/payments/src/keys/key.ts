import type { Mode, Tenant } from '../tenant.ts';

export const scopes = [
  'payments:read',
  'payments:write',
  'payment_methods:read',
  'payment_methods:write',
  'webhooks:read',
  'webhooks:write',
  'events:read',
  'ledger:read',
] as const;

export type Scope = (typeof scopes)[number];

/** The published token of the sandbox, the same on every instance. */
export const SANDBOX_TOKEN = 'sk_test_sandbox';
export const SANDBOX_ORGANISATION_ID = 'org_sandbox';
export const SANDBOX_KEY_ID = 'key_sandbox';

/** Whether people of an organisation may make live keys; the operator says so. */
export type LiveAccess = 'none' | 'requested' | 'approved' | 'refused';

export interface Organisation {
  id: string;
  name: string;
  liveAccess: LiveAccess;
  createdAt: Date;
}

export interface ApiKey {
  id: string;
  organisationId: string;
  mode: Mode;
  name: string;
  /** The last characters of the key, by which people recognise it. */
  hint: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** The key that took over when it was rolled. */
  replacedBy: string | null;
  createdAt: Date;
}

/** Who a request comes from. */
export interface Caller {
  readonly tenant: Tenant;
  readonly keyId: string;
  readonly scopes: ReadonlySet<Scope>;
}

const TOKEN = /^sk_(test|live)_[0-9A-Za-z]{43}$/;

/** Text of another form is no key of ours, and costs no look into the database. */
export function looksLikeKey(token: string): boolean {
  return TOKEN.test(token) || token === SANDBOX_TOKEN;
}

export function tokenPrefix(mode: Mode): string {
  return mode === 'live' ? 'sk_live_' : 'sk_test_';
}
