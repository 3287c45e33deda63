import { ConnectorError } from '../connector.ts';

/** The tokens in the answer of a token endpoint (RFC 6749 5.1). */
export interface IssuedTokens {
  accessToken: string;
  refreshToken: string | null;
  /** From the answer's own lifetime; null where it names none. */
  expiresAt: Date | null;
}

const TOKEN_LENGTH_MAX = 16_384;

export function readTokens(answer: Readonly<Record<string, unknown>>, now: Date): IssuedTokens {
  const { access_token, refresh_token, expires_in } = answer;
  if (!isToken(access_token)) {
    throw new ConnectorError('platform_unavailable', 'the token endpoint sent no access token');
  }
  const seconds = Number(expires_in);
  return {
    accessToken: access_token,
    refreshToken: isToken(refresh_token) ? refresh_token : null,
    expiresAt:
      seconds > 0 && seconds < LIFETIME_SECONDS_MAX ? new Date(now.getTime() + seconds * 1_000) : null,
  };
}

/** Beyond ten years a lifetime is no date that anything has to be done about. */
const LIFETIME_SECONDS_MAX = 10 * 365 * 24 * 60 * 60;

export function isToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TOKEN_LENGTH_MAX && /^[\x21-\x7e]+$/.test(value);
}
