import type { ListOptions } from '@libs/ui';
import type { Mode } from '../api/types.ts';

export interface ApiKey {
  id: string;
  mode: Mode;
  name: string;
  hint: string;
  scopes: string[];
  expires_at: string | null;
  revoked_at: string | null;
  replaced_by: string | null;
  created_at: string;
}

export interface ApiKeyWithToken extends ApiKey {
  key: string;
}

export const KEYS_PATH = '/v1/keys';

export type KeyState = 'active' | 'revoked' | 'expired';

/** A key that is being replaced works until its end; one that was revoked never does, however late this machine's clock is. */
export function keyState(key: ApiKey, now: Date): KeyState {
  if (key.revoked_at !== null) return 'revoked';
  if (key.expires_at !== null && new Date(key.expires_at) <= now) return 'expired';
  return 'active';
}

const LOOK_MS_MIN = 1_000;
const LOOK_MS_MAX = 60_000;

/** Keys are read again when the next of them ends: a key that was rolled stops by itself. */
export const untilNextEnd: ListOptions<ApiKey> = {
  refetchMs: ({ data }) => {
    const now = new Date();
    const endings = data
      .filter((key) => keyState(key, now) === 'active')
      .flatMap(({ expires_at: at }) => (at === null ? [] : [Date.parse(at) - now.getTime()]));
    if (endings.length === 0) return false;
    return Math.min(Math.max(Math.min(...endings), LOOK_MS_MIN), LOOK_MS_MAX);
  },
};
