import { createHmac, createSecretKey, type Hmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';

// Standard Webhooks: HMAC-SHA256 over "id.timestamp.body", one signature per valid secret.

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const SECRET_BYTES_MIN = 16;
const SECRET_BYTES_MAX = 64;
const TOLERANCE_SECONDS = 5 * 60;
const SIGNATURES_READ_MAX = 16;
const CACHED_KEYS_MAX = 4_096;

export class WebhookSecretError extends Error {
  override readonly name = 'WebhookSecretError';
}

export function newWebhookSecret(randomBytes: (size: number) => Buffer): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function decodeWebhookSecret(secret: string): KeyObject {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const bytes = Buffer.from(text, 'base64');
  const isExact = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (!isExact || bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) {
    throw new WebhookSecretError(`a webhook secret is ${SECRET_PREFIX} and base64`);
  }
  return createSecretKey(bytes);
}

export interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  /** Bytes are cheaper where there are some: text is turned into them for each signature. */
  readonly body: string | Buffer;
}

function hmacOf(key: KeyObject, { id, timestampSeconds, body }: SignedMessage): Hmac {
  return createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(body);
}

/** The value of `webhook-signature`: one entry per key, so that receivers verify with either while a secret rotates. */
export function signMessage(message: SignedMessage, keys: readonly KeyObject[]): string {
  return keys.map((key) => `v1,${hmacOf(key, message).digest('base64')}`).join(' ');
}

/** Decoding costs more than signing, so a sender keeps the keys of the secrets it meets. */
export function createKeyCache(): (secret: string) => KeyObject {
  const keys = new LRUCache<string, KeyObject>({ max: CACHED_KEYS_MAX });
  return (secret) => {
    const known = keys.get(secret);
    if (known !== undefined) return known;
    const key = decodeWebhookSecret(secret);
    keys.set(secret, key);
    return key;
  };
}

export type VerifyFailure = 'missing_header' | 'bad_timestamp' | 'too_old' | 'too_new' | 'no_match';
export type VerifyResult = { readonly ok: true } | { readonly ok: false; readonly reason: VerifyFailure };

export interface VerifyInput {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly secrets: readonly string[];
  readonly now: Date;
}

function checkTime(text: string, now: Date): { seconds: number } | VerifyFailure {
  if (!/^\d{1,15}$/.test(text)) return 'bad_timestamp';
  const seconds = Number(text);
  const ageSeconds = now.getTime() / 1000 - seconds;
  if (ageSeconds > TOLERANCE_SECONDS) return 'too_old';
  return ageSeconds < -TOLERANCE_SECONDS ? 'too_new' : { seconds };
}

/** Every secret is tried against every signature, in a time that does not tell which part was right. */
export function verifyMessage(input: VerifyInput): VerifyResult {
  const read = (name: string) => {
    const value = input.headers[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(read);
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    return { ok: false, reason: 'missing_header' };
  }
  const time = checkTime(timestamp, input.now);
  if (typeof time === 'string') return { ok: false, reason: time };
  const expected = input.secrets.map((secret) =>
    hmacOf(decodeWebhookSecret(secret), { id, timestampSeconds: time.seconds, body: input.body }).digest(),
  );
  let matches = false;
  for (const entry of signatures.split(' ').slice(0, SIGNATURES_READ_MAX)) {
    const given = entry.startsWith('v1,') ? Buffer.from(entry.slice(3), 'base64') : Buffer.alloc(0);
    for (const wanted of expected) {
      if (given.length === wanted.length && timingSafeEqual(given, wanted)) matches = true;
    }
  }
  return matches ? { ok: true } : { ok: false, reason: 'no_match' };
}
