import { parseHost } from './host.ts';
import { checkHost, type EgressPolicy, mayUsePlainHttp } from './policy.ts';
import { type Refusal, refuse } from './refusal.ts';
import { tryResolve } from './resolve.ts';

export type UrlCheck = { readonly ok: true; readonly url: URL } | Refusal;

const URL_LENGTH_MAX = 2_048;
const RESOLVE_TIMEOUT_MS = 3_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

function portOf(url: URL): number {
  return url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
}

/** A URL by its spelling alone. Forms that parsers read differently are refused, not repaired. */
export function checkUrl(text: string, policy: EgressPolicy): UrlCheck {
  if (text.length > URL_LENGTH_MAX) return refuse('malformed', `longer than ${URL_LENGTH_MAX} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: URL parsers drop some of these silently.
  if (/[\u0000-\u0020\u007f\\]/.test(text))
    return refuse('malformed', 'holds spaces, control characters or backslashes');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return refuse('malformed', 'not an absolute URL');
  if (scheme !== 'https' && scheme !== 'http') return refuse('scheme', `${scheme} is not http or https`);
  const authority = /^[^:]+:\/\/([^/?#]+)/.exec(text)?.[1];
  if (authority === undefined) return refuse('malformed', 'the URL has no host');
  if (authority.includes('@')) return refuse('credentials', 'the URL holds user information');
  if (!URL.canParse(text)) return refuse('malformed', 'not a valid URL');
  const url = new URL(text);
  const host = parseHost(authority.replace(/:\d*$/, ''));
  const port = portOf(url);
  if (host === undefined || port === 0) return refuse('malformed', 'the URL has no valid host and port');
  const checked = checkHost(host, port, policy);
  if (!checked.ok) return checked;
  if (scheme === 'http' && !mayUsePlainHttp(host, port, policy)) {
    return refuse('plain_http', 'plain http is not allowed, use https');
  }
  return { ok: true, url };
}

/**
 * For registration: also refuses a name that leads to a refused address now. A name without an address is accepted,
 * since every connection is checked again.
 */
export async function checkUrlResolved(text: string, policy: EgressPolicy): Promise<UrlCheck> {
  const checked = checkUrl(text, policy);
  if (!checked.ok) return checked;
  const { hostname } = checked.url;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resume) => {
    timer = setTimeout(resume, RESOLVE_TIMEOUT_MS, undefined);
  });
  try {
    const resolution = await Promise.race([tryResolve(hostname, portOf(checked.url), policy), timeout]);
    return resolution !== undefined && 'reason' in resolution ? resolution : checked;
  } finally {
    clearTimeout(timer);
  }
}
