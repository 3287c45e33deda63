import type { Mode } from '../api/types.ts';

export interface ApiKey {
  id: string;
  mode: Mode;
  name: string;
  hint: string;
  scopes: string[];
  expires_at: string | null;
  revoked_at: string | null;
  created_at: string;
}

export interface ApiKeyWithToken extends ApiKey {
  key: string;
}

export const KEYS_PATH = '/v1/keys';

export type KeyState = 'active' | 'revoked' | 'expired';

/** A key that is being replaced works until its end; one that is gone says since when. */
export function keyState(key: ApiKey, now: Date): KeyState {
  if (key.revoked_at !== null && new Date(key.revoked_at) <= now) return 'revoked';
  if (key.expires_at !== null && new Date(key.expires_at) <= now) return 'expired';
  return 'active';
}
