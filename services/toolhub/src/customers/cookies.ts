import { serializeCookie } from '@libs/http';
import { SESSION_DAYS } from '@libs/login';
import type { Access } from './access.ts';

const SESSION_SECONDS = SESSION_DAYS * 24 * 60 * 60;

export function sessionCookie(
  access: Pick<Access, 'cookieName' | 'secureCookies'>,
  sessionToken: string,
): string {
  return serializeCookie(access.cookieName, sessionToken, {
    secure: access.secureCookies,
    maxAgeSeconds: SESSION_SECONDS,
  });
}
