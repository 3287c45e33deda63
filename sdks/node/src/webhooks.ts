import { createHmac, timingSafeEqual } from 'node:crypto';
import { types } from 'node:util';
import { SignatureInvalidError } from './errors.ts';
import type { WebhookEvent } from './event-types.ts';

// Standard Webhooks: HMAC-SHA256 over "id.timestamp.body", one signature per valid secret.

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES_MIN = 16;
const SECRET_BYTES_MAX = 64;
const TOLERANCE_SECONDS = 5 * 60;
const SIGNATURES_READ_MAX = 16;
/** Spaces; or the comma by which servers join the lines of a header. */
const SIGNATURES_APART = /,? +|,(?=v\d+[a-z]*,)/;

export type WebhookBody = string | ArrayBufferView | ArrayBuffer;

/** As Node's `request.headers`, a `Headers` of fetch, or pairs. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [string, string]>;

export interface VerifyOptions {
  /** How far the time of the message may be from now, either way; 300 where it is absent. */
  toleranceSeconds?: number | undefined;
  now?: Date | undefined;
}

export interface SignOptions {
  id?: string | undefined;
  now?: Date | undefined;
}

/** The headers that a webhook carries. */
export interface SignedHeaders extends Record<string, string> {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

export const webhooks = {
  /**
   * The event, if the message was signed with this secret (or one of these) within the last five minutes. Give it the body's
   * raw bytes: JSON that was parsed and printed again has other ones. Throws SignatureInvalidError otherwise.
   */
  verify(
    body: WebhookBody,
    headers: WebhookHeaders,
    secret: string | readonly string[],
    options: VerifyOptions = {},
  ): WebhookEvent {
    const bytes = toBytes(body);
    const { id, timestamp, signatures } = readHeaders(headers);
    const keys = (typeof secret === 'string' ? [secret] : (secret ?? [])).map(decodeSecret);
    if (keys.length === 0) throw new SignatureInvalidError('bad_secret', 'No secret was given.');
    checkTime(timestamp, options);
    const expected = keys.map((key) => digest(key, id, timestamp, bytes));
    let matches = false;
    for (const given of signatures) {
      // Every pair is compared, in a time that does not tell which part was right.
      for (const wanted of expected) {
        if (given.length === wanted.length && timingSafeEqual(given, wanted)) matches = true;
      }
    }
    if (!matches) {
      throw new SignatureInvalidError(
        'no_match',
        'No signature fits: another secret, or a body that is not byte for byte what was sent.',
      );
    }
    return parseEvent(bytes);
  },

  /** The headers of a message signed with this secret, for the tests of your own receiver. */
  sign(body: WebhookBody, secret: string | readonly string[], options: SignOptions = {}): SignedHeaders {
    const bytes = toBytes(body);
    const id = options.id ?? idOf(bytes);
    const timestamp = String(Math.floor((options.now ?? new Date()).getTime() / 1000));
    const secrets = typeof secret === 'string' ? [secret] : secret;
    const signatures = secrets.map(
      (one) => `v1,${digest(decodeSecret(one), id, timestamp, bytes).toString('base64')}`,
    );
    return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
  },
} as const;

function digest(key: Buffer, id: string, timestamp: string, body: Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}

function toBytes(body: WebhookBody): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body, 'utf8');
  // Not by instanceof: a test runner gives its tests a Uint8Array of their own.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (types.isAnyArrayBuffer(body)) return new Uint8Array(body);
  throw new SignatureInvalidError(
    'bad_body',
    'The body must be the raw text or bytes as received, not the object that was parsed from it.',
  );
}

function decodeSecret(secret: string): Buffer {
  const text =
    typeof secret === 'string' && secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const bytes = Buffer.from(text, 'base64');
  const isExact = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (!isExact || bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) {
    throw new SignatureInvalidError('bad_secret', `A webhook secret is ${SECRET_PREFIX} and base64.`);
  }
  return bytes;
}

interface ReadHeaders {
  id: string;
  timestamp: string;
  signatures: Buffer[];
}

function readHeaders(headers: WebhookHeaders): ReadHeaders {
  const found = new Map<string, string>();
  const pairs = isIterable(headers) ? headers : Object.entries(headers ?? {});
  for (const [name, value] of pairs) {
    const key = String(name).toLowerCase();
    const isSignature = key === 'webhook-signature';
    // Of a header that comes in several lines, signatures add up; anything else is said once.
    const text = typeof value === 'string' ? value : isSignature ? value?.join(' ') : value?.[0];
    if (typeof text === 'string')
      found.set(key, isSignature ? `${found.get(key) ?? ''} ${text}`.trim() : text);
  }
  const read = (name: string) => {
    const value = found.get(name);
    if (value) return value;
    throw new SignatureInvalidError(
      'missing_header',
      `The header ${name} is missing: this is no signed webhook.`,
    );
  };
  return {
    id: read('webhook-id'),
    timestamp: read('webhook-timestamp'),
    signatures: read('webhook-signature')
      .split(SIGNATURES_APART)
      .slice(0, SIGNATURES_READ_MAX)
      .filter((entry) => entry.startsWith('v1,'))
      .map((entry) => Buffer.from(entry.slice(3), 'base64')),
  };
}

function isIterable(headers: WebhookHeaders): headers is Iterable<readonly [string, string]> {
  return typeof (headers as Iterable<unknown> | undefined)?.[Symbol.iterator] === 'function';
}

function checkTime(timestamp: string, options: VerifyOptions): void {
  if (!/^\d{1,15}$/.test(timestamp)) {
    throw new SignatureInvalidError(
      'bad_timestamp',
      'The header webhook-timestamp is not a time in seconds.',
    );
  }
  const tolerance = options.toleranceSeconds ?? TOLERANCE_SECONDS;
  const ageSeconds = (options.now ?? new Date()).getTime() / 1000 - Number(timestamp);
  if (Math.abs(ageSeconds) <= tolerance) return;
  const seconds = Math.round(Math.abs(ageSeconds));
  const [reason, side] = ageSeconds > 0 ? (['too_old', 'before'] as const) : (['too_new', 'after'] as const);
  throw new SignatureInvalidError(
    reason,
    `The message is from ${seconds} s ${side} this machine's time, and ${tolerance} s are allowed: an old message sent again, or a clock that is off.`,
  );
}

function parseEvent(bytes: Uint8Array): WebhookEvent {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new SignatureInvalidError('bad_body', 'The signature fits, but the body is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SignatureInvalidError('bad_body', 'The signature fits, but the body is no event.');
  }
  return value as WebhookEvent;
}

/** A webhook's id is its event's, which the body names. */
function idOf(bytes: Uint8Array): string {
  try {
    const { id } = JSON.parse(new TextDecoder().decode(bytes)) as { id?: unknown };
    if (typeof id === 'string' && id !== '') return id;
  } catch {
    // Not JSON: then it has no id of its own.
  }
  return 'evt_test';
}
