import { localFetch } from './local-fetch.ts';
import { readTunnel, type TunnelOptions } from './tunnel-fetch.ts';

const DEFAULT_BASE_URL = 'http://localhost:4000';
export const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RETRIES = 3;
const RETRIES_MAX = 20;
const TIMEOUT_MS_MAX = 10 * 60_000;

/** What `onRequest` sees. Headers may be added to; the API key is never among them. */
export interface RequestInfo {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** 1 for the first try. */
  attempt: number;
}

/** What `onResponse` sees, once per try. */
export interface ResponseInfo {
  method: string;
  url: string;
  attempt: number;
  /** Absent where there was no answer. */
  status: number | undefined;
  request_id: string | undefined;
  durationMs: number;
  /** Why there was no usable answer. */
  error: Error | undefined;
  /** Present where the request is sent again, after this long. */
  retryInMs: number | undefined;
}

export interface PaymentsOptions extends TunnelOptions {
  /** `sk_test_…` or `sk_live_…`; falls back to `PAYMENTS_API_KEY`. */
  apiKey?: string | undefined;
  /** Falls back to `PAYMENTS_API_URL`, then to http://localhost:4000. */
  baseUrl?: string | undefined;
  /** Of one try, until the last byte of the answer; 30 s where it is absent. */
  timeoutMs?: number | undefined;
  /** How many times a request is sent again; 3 where it is absent, 0 for never. */
  maxRetries?: number | undefined;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  onRequest?: ((request: RequestInfo) => void) | undefined;
  onResponse?: ((response: ResponseInfo) => void) | undefined;
  /** Stands in for the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
}

const optionNames = [
  'apiKey',
  'baseUrl',
  'timeoutMs',
  'maxRetries',
  'headers',
  'proxy',
  'ca',
  'onRequest',
  'onResponse',
  'fetch',
] as const satisfies readonly (keyof PaymentsOptions)[];

export interface Settings {
  apiKey: string;
  baseUrl: string;
  timeoutMs: number;
  maxRetries: number;
  headers: Readonly<Record<string, string>>;
  onRequest: ((request: RequestInfo) => void) | undefined;
  onResponse: ((response: ResponseInfo) => void) | undefined;
  fetch: typeof globalThis.fetch;
}

/** Checked once, when the client is made: a wrong setting shows before the first payment. */
export function readSettings(options: PaymentsOptions): Settings {
  checkOptions(options, optionNames);
  return {
    apiKey: readApiKey(options.apiKey ?? process.env.PAYMENTS_API_KEY),
    baseUrl: readBaseUrl(options.baseUrl ?? (process.env.PAYMENTS_API_URL || DEFAULT_BASE_URL)),
    timeoutMs: readNumber('timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1, TIMEOUT_MS_MAX),
    maxRetries: readNumber('maxRetries', options.maxRetries ?? DEFAULT_MAX_RETRIES, 0, RETRIES_MAX),
    headers: { ...options.headers },
    onRequest: options.onRequest,
    onResponse: options.onResponse,
    fetch: options.fetch ?? readTunnel(options) ?? localFetch,
  };
}

/** The value is never repeated in a message: it may be a secret with a typing mistake in it. */
function readApiKey(value: string | undefined): string {
  if (value === undefined || value === '') {
    throw new TypeError('No API key: pass { apiKey } or set PAYMENTS_API_KEY.');
  }
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    throw new TypeError('The API key contains characters that no key has: was it copied with spaces?');
  }
  return value;
}

function readBaseUrl(value: string): string {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw new TypeError('baseUrl is not a URL: it looks like https://payments.example.com');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TypeError('baseUrl must begin with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('baseUrl must not contain a user name or password: the key goes in apiKey');
  }
  if (url.search !== '' || url.hash !== '') throw new TypeError('baseUrl must not contain ? or #');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** A name with a typing mistake would be an idempotency key that is never sent, or an address that is never asked. */
export function checkOptions(options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw new TypeError('Options are given as an object.');
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`There is no option ${JSON.stringify(unknown)}: there are ${known.join(', ')}.`);
}

export function readNumber(name: string, value: number, least: number, most: number): number {
  if (typeof value !== 'number' || !(value >= least && value <= most)) {
    throw new TypeError(`${name} must be a number from ${least} to ${most}`);
  }
  return value;
}
