import { setTimeout as sleep } from 'node:timers/promises';
import { retryAfterMs } from '@libs/egress';
import { ConnectorError, stillOpen, type ToolContext } from '../connector.ts';
import { fieldsOf } from './shape.ts';

type QueryValue = string | number | boolean | readonly string[] | undefined;

export interface VendorRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Made by `path`, so that no argument can change where it leads. */
  path: string;
  query?: Readonly<Record<string, QueryValue>>;
  json?: unknown;
  form?: Readonly<Record<string, string | undefined>>;
  headers?: Readonly<Record<string, string>>;
  /** The vendor does a repeat of this request at most once, so a lost answer may be asked for again. */
  repeatable?: boolean;
  /** It changes nothing at the vendor, so a try that was cut leaves nothing open once it is repeated; a GET unless said. */
  isRead?: boolean;
}

export interface VendorAnswer {
  status: number;
  headers: Headers;
  /** The JSON of the answer; null where it has no body. */
  body: unknown;
}

export interface VendorRefusal extends VendorAnswer {
  /** Whether what was asked for changes nothing, so that nothing of it can have been done. */
  isRead: boolean;
}

/** How one vendor is spoken to; everything that all vendors share is done here. */
export interface VendorRules<Credential> {
  title: string;
  baseUrl(context: ToolContext<Credential>): string;
  /** Carries the credential. */
  headers(context: ToolContext<Credential>): Readonly<Record<string, string>>;
  /** Secrets that a vendor might repeat in its messages. */
  secrets(credential: Credential): readonly string[];
  /** For vendors that refuse with status 200. */
  isRefusal?(answer: VendorAnswer): boolean;
  /** What this vendor means by a refusal; undefined leaves it to the status. */
  explain(answer: VendorRefusal, said: (text: unknown) => string, now: Date): ConnectorError | undefined;
}

export type CallVendor<Credential> = (
  context: ToolContext<Credential>,
  request: VendorRequest,
) => Promise<VendorAnswer>;

const SAID_LENGTH_MAX = 300;
/** Longer than any secret, of which a cut would leave a part that is not recognised. */
const SAID_READ_MAX = 100_000;
const REPEATS_MAX = 1;
const REPEAT_AFTER_MS = 250;
const RETRY_AFTER_SECONDS = 30;
const RETRY_AFTER_SECONDS_MAX = 24 * 60 * 60;

export function createVendorApi<Credential>(rules: VendorRules<Credential>): CallVendor<Credential> {
  async function once(
    context: ToolContext<Credential>,
    request: VendorRequest & { isRead: boolean },
  ): Promise<VendorAnswer> {
    const response = await context.fetch(addressOf(rules.baseUrl(context), request), {
      method: request.method ?? 'GET',
      headers: {
        accept: 'application/json',
        ...rules.headers(context),
        ...request.headers,
        ...contentType(request),
      },
      ...bodyOf(request),
    });
    const answer = {
      status: response.status,
      headers: response.headers,
      body: await readBody(response, rules.title),
    };
    if (response.ok && rules.isRefusal?.(answer) !== true) return answer;
    const said = (text: unknown) => tidy(text, rules.secrets(context.credential));
    const refusal = { ...answer, isRead: request.isRead };
    throw (
      rules.explain(refusal, said, context.now()) ?? explainStatus(rules.title, refusal, said, context.now())
    );
  }

  return async (context, request) => {
    const isRead = request.isRead ?? (request.method ?? 'GET') === 'GET';
    const mayRepeat = request.repeatable ?? isRead;
    let isOpen = false;
    for (let repeat = 0; ; repeat += 1) {
      try {
        return await once(context, { ...request, isRead });
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        const isPassing = error.code === 'platform_unavailable';
        if (!isPassing || !mayRepeat || repeat >= REPEATS_MAX) throw isOpen ? stillOpen(error) : error;
        isOpen ||= error.outcomeOpen && !isRead;
        await sleep(REPEAT_AFTER_MS, undefined, { signal: context.signal });
      }
    }
  };
}

function addressOf(baseUrl: string, { path, query = {} }: VendorRequest): URL {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}${path}`);
  for (const [name, value] of Object.entries(query)) {
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) if (one !== undefined) url.searchParams.append(name, String(one));
  }
  return url;
}

function contentType({ json, form }: VendorRequest): Record<string, string> {
  if (json !== undefined) return { 'content-type': 'application/json; charset=utf-8' };
  return form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
}

function bodyOf({ json, form }: VendorRequest): { body?: string } {
  if (json !== undefined) return { body: JSON.stringify(json) };
  if (form === undefined) return {};
  const fields = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined);
  return { body: new URLSearchParams(fields).toString() };
}

/** An answer without sense counts as no answer, except to a refusal, whose status says enough: it has no body then, and an empty one is null. */
async function readBody(response: Response, title: string): Promise<unknown> {
  const text = await response.text();
  if (text === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    if (!response.ok) return undefined;
    const message = `${title} sent an answer (HTTP ${response.status}) that cannot be read`;
    // It answered that all is well, so it may well have done what it was asked for.
    throw new ConnectorError('platform_unavailable', message, { cause, outcomeOpen: true });
  }
}

/** A vendor's own words, without secrets and short enough to be shown. */
function tidy(text: unknown, secrets: readonly string[]): string {
  const plain = typeof text === 'string' && text !== '' ? text : 'no reason given';
  return secrets
    .filter((secret) => secret !== '')
    .reduce((shown, secret) => shown.replaceAll(secret, '…'), plain.slice(0, SAID_READ_MAX))
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, SAID_LENGTH_MAX)
    .toWellFormed();
}

function explainStatus(
  title: string,
  refusal: VendorRefusal,
  said: (text: unknown) => string,
  now: Date,
): ConnectorError {
  const { status, headers, body, isRead } = refusal;
  if (status === 401) return tokenRefused(title);
  if (status === 429) return slowDown(title, retryAfterSeconds(headers, now));
  if (status >= 500) return serverFailed(title, refusal);
  if (status >= 300 && status < 400)
    return notNow(`${title} answered with a redirect, which is not followed`, { isRead });
  const { message, error, detail } = fieldsOf(body);
  const text = [message, detail, error].find((value) => typeof value === 'string');
  return refusedBy(title, said(text), String(status));
}

/** Not implemented, not spoken, and four by which Cloudflare says that it did not get through to the vendor. */
const DID_NOTHING_STATUSES: ReadonlySet<number> = new Set([501, 505, 521, 523, 525, 526]);
const NOT_AVAILABLE = 503;

/**
 * Whoever failed on the way, the vendor or a gateway before it, may have failed after what was asked for was done. A vendor that is
 * not available says so in its own JSON or by the status alone; gateways (Varnish, Fastly, Envoy) send a page with the same status
 * where the answer was lost.
 */
export function serverFailed(
  title: string,
  { status, body, isRead }: Pick<VendorRefusal, 'status' | 'body' | 'isRead'>,
): ConnectorError {
  const didNothing = DID_NOTHING_STATUSES.has(status) || (status === NOT_AVAILABLE && body !== undefined);
  return notNow(`${title} answered ${status}`, { isRead, isHalfway: !didNothing });
}

/**
 * A failure that passes. A tool that changes something asks for one change, and either that was refused or, where the vendor stopped
 * halfway, may have been done; a read is only a part of its tool.
 */
export function notNow(
  message: string,
  { isRead, isHalfway = false, ...code }: { isRead: boolean; isHalfway?: boolean; platformCode?: string },
): ConnectorError {
  const outcome = isRead ? {} : isHalfway ? { outcomeOpen: true } : { nothingDone: true };
  return new ConnectorError('platform_unavailable', message, { ...code, ...outcome });
}

export function tokenRefused(title: string): ConnectorError {
  return new ConnectorError('token_expired', `${title} does not accept the access token`);
}

export function slowDown(title: string, seconds: number): ConnectorError {
  return new ConnectorError('rate_limited', `${title} asks to slow down`, { retryAfterSeconds: seconds });
}

export function refusedBy(title: string, reason: string, platformCode: string): ConnectorError {
  return new ConnectorError('platform_error', `${title} refused: ${reason}`, { platformCode });
}

/** `Retry-After` in seconds or as a date, else the moment at which the vendor's window begins anew. */
export function retryAfterSeconds(headers: Headers, now: Date): number {
  const askedMs = retryAfterMs(headers.get('retry-after') ?? '', now);
  if (askedMs !== undefined) return boundSeconds(askedMs / 1_000);
  const reset =
    headers.get('x-rate-limit-reset') ?? headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset');
  return reset === null ? RETRY_AFTER_SECONDS : boundSeconds(secondsUntil(reset, now));
}

/** Vendors write the moment as a date, as unix seconds, or as seconds from now. */
export function secondsUntil(reset: string, now: Date): number {
  const number = Number(reset);
  if (Number.isNaN(number)) return (Date.parse(reset) - now.getTime()) / 1_000;
  const isUnixTime = number > 1_000_000_000;
  return isUnixTime ? number - now.getTime() / 1_000 : number;
}

export function boundSeconds(seconds: number): number {
  if (!Number.isFinite(seconds)) return RETRY_AFTER_SECONDS;
  return Math.min(Math.max(Math.ceil(seconds), 1), RETRY_AFTER_SECONDS_MAX);
}
