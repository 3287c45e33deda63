const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;
const COOKIES_MAX = 100;

/** The cookies of a request. The first of two with the same name counts, as the more specific path is sent first. */
export function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  if (header === undefined) return cookies;
  for (const pair of header.split(';', COOKIES_MAX)) {
    const equals = pair.indexOf('=');
    if (equals === -1) continue;
    const name = pair.slice(0, equals).trim();
    const value = pair
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1');
    if (NAME.test(name) && !cookies.has(name)) cookies.set(name, value);
  }
  return cookies;
}

export type CookieOptions = {
  /** Sent over https alone; derive it from the public address. */
  secure: boolean;
  maxAgeSeconds?: number;
  path?: string;
  sameSite?: 'Lax' | 'Strict' | 'None';
  /** False only for what scripts must read. */
  httpOnly?: boolean;
};

export function serializeCookie(name: string, value: string, options: CookieOptions): string {
  if (!NAME.test(name)) throw new TypeError('not a cookie name');
  if (!VALUE.test(value)) throw new TypeError('not a cookie value: encode it first');
  const parts = [`${name}=${value}`, `Path=${options.path ?? '/'}`];
  if (options.maxAgeSeconds !== undefined) parts.push(`Max-Age=${Math.trunc(options.maxAgeSeconds)}`);
  if (options.httpOnly !== false) parts.push('HttpOnly');
  parts.push(`SameSite=${options.sameSite ?? 'Lax'}`);
  if (options.secure) parts.push('Secure');
  return parts.join('; ');
}

/** Tells the browser to forget the cookie; path and flags must be those it was set with. */
export function expireCookie(name: string, options: Omit<CookieOptions, 'maxAgeSeconds'>): string {
  return serializeCookie(name, '', { ...options, maxAgeSeconds: 0 });
}
