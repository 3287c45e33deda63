import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { SealError } from './errors.ts';

export const SEAL_KEY_BYTES = 32;

const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const NONCES_DRAWN = 128;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
const OVERHEAD_BYTES = HEADER_BYTES + NONCE_BYTES + TAG_BYTES;
const KEYS_MAX = 16;

export interface SealerOptions {
  /** The first key seals, every key opens: put a new key in front to rotate. */
  readonly keys: readonly Buffer[];
  readonly randomBytes?: (size: number) => Buffer;
}

export interface Sealer {
  /** What tells an envelope's key, newest first: bytes 2 to 5 of the envelope, in hexadecimal digits. */
  readonly keyIds: readonly [string, ...string[]];
  /** The context names the owner and the column; an envelope opens under exactly the context that sealed it. */
  seal(plain: string | Uint8Array, context: string): Buffer;
  open(sealed: Uint8Array, context: string): Buffer;
  openText(sealed: Uint8Array, context: string): string;
  /** Keyed, so that a stolen table of fingerprints cannot be searched by trying every account number. */
  fingerprint(value: string, context: string): string;
  /** One per key, newest first: while keys rotate, a stored fingerprint may come from any of them. */
  fingerprints(value: string, context: string): string[];
}

/** Prepared once: with the bytes of a key, Node prepares it at each use, which costs as much as sealing a message. */
interface SealKey {
  readonly id: Buffer;
  readonly encryption: KeyObject;
  readonly fingerprinting: KeyObject;
}

// Each purpose gets its own key, so that no value is ever used by two algorithms.
function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `seal/v${VERSION}/${purpose}`, SEAL_KEY_BYTES));
}

function prepareKey(key: Buffer): SealKey {
  if (key.length !== SEAL_KEY_BYTES) {
    throw new SealError('bad_key', `a sealing key has ${SEAL_KEY_BYTES} bytes, this one has ${key.length}`);
  }
  return {
    id: hash('sha256', derive(key, 'key-id'), 'buffer').subarray(0, KEY_ID_BYTES),
    encryption: createSecretKey(derive(key, 'aes-256-gcm')),
    fingerprinting: createSecretKey(derive(key, 'fingerprint')),
  };
}

function prepareKeys(keys: readonly Buffer[]): readonly [SealKey, ...SealKey[]] {
  if (keys.length > KEYS_MAX) throw new SealError('bad_key', `more than ${KEYS_MAX} sealing keys`);
  const [first, ...others] = keys.map(prepareKey);
  if (first === undefined) throw new SealError('bad_key', 'at least one sealing key is needed');
  const ids = new Set([first, ...others].map((key) => key.id.toString('hex')));
  if (ids.size !== keys.length) throw new SealError('bad_key', 'a sealing key is listed twice');
  return [first, ...others];
}

function parseEnvelope(sealed: Uint8Array): Buffer {
  const envelope = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (envelope.length < OVERHEAD_BYTES) throw new SealError('malformed', 'the envelope is too short');
  if (envelope[0] !== VERSION) throw new SealError('malformed', 'the envelope has an unknown version');
  return envelope;
}

function fingerprintWith(key: SealKey, value: string, context: string): string {
  // The length in front keeps ("ab", "c") and ("a", "bc") apart.
  return createHmac('sha256', key.fingerprinting)
    .update(`${Buffer.byteLength(context)}:${context}`)
    .update(value)
    .digest('base64url');
}

/** Envelope: version (1 byte), key id (4), nonce (12), cipher text, tag (16). Header and context are authenticated. */
export function createSealer(options: SealerOptions): Sealer {
  const keys = prepareKeys(options.keys);
  const [current] = keys;
  const random = options.randomBytes ?? randomBytes;
  const header = Buffer.concat([Buffer.of(VERSION), current.id]);
  let nonces: Buffer = Buffer.alloc(0);

  /** Drawn many at a time: asking the system for each costs as much as the sealing itself. None is used twice. */
  function nextNonce(): Buffer {
    if (nonces.length === 0) nonces = random(NONCE_BYTES * NONCES_DRAWN);
    const nonce = nonces.subarray(0, NONCE_BYTES);
    nonces = nonces.subarray(NONCE_BYTES);
    return nonce;
  }

  function seal(plain: string | Uint8Array, context: string): Buffer {
    const nonce = nextNonce();
    const cipher = createCipheriv('aes-256-gcm', current.encryption, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.concat([header, Buffer.from(context)]));
    const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain);
    return Buffer.concat([header, nonce, body, cipher.final(), cipher.getAuthTag()]);
  }

  function open(sealed: Uint8Array, context: string): Buffer {
    const envelope = parseEnvelope(sealed);
    const header = envelope.subarray(0, HEADER_BYTES);
    const key = keys.find((candidate) => candidate.id.equals(header.subarray(1)));
    if (key === undefined) {
      const keyId = header.subarray(1).toString('hex');
      throw new SealError('unknown_key', 'no configured key opens this envelope', { keyId });
    }
    const nonce = envelope.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key.encryption, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.concat([header, Buffer.from(context)]));
    decipher.setAuthTag(envelope.subarray(-TAG_BYTES));
    const body = decipher.update(envelope.subarray(HEADER_BYTES + NONCE_BYTES, -TAG_BYTES));
    try {
      return Buffer.concat([body, decipher.final()]);
    } catch (cause) {
      throw new SealError('refused', 'the envelope was changed or belongs to another context', { cause });
    }
  }

  return {
    keyIds: [current.id.toString('hex'), ...keys.slice(1).map((key) => key.id.toString('hex'))],
    seal,
    open,
    openText: (sealed, context) => open(sealed, context).toString('utf8'),
    fingerprint: (value, context) => fingerprintWith(current, value, context),
    fingerprints: (value, context) => keys.map((key) => fingerprintWith(key, value, context)),
  };
}

export type SealKeysResult =
  | { readonly ok: true; readonly keys: Buffer[] }
  | { readonly ok: false; readonly detail: string };

/** Reads the setting: 32 bytes in base64, or a comma list of them, newest first. */
export function parseSealKeys(text: string): SealKeysResult {
  const parts = text.split(',').map((part) => part.trim());
  const keys = parts.map((part) => Buffer.from(part, 'base64'));
  if (keys.length > KEYS_MAX) return { ok: false, detail: `more than ${KEYS_MAX} keys` };
  for (const [index, key] of keys.entries()) {
    const canonical = [key.toString('base64'), key.toString('base64url')].map((form) =>
      form.replace(/=+$/, ''),
    );
    const spelled = (parts[index] ?? '').replace(/=+$/, '');
    if (key.length !== SEAL_KEY_BYTES || !canonical.includes(spelled)) {
      return {
        ok: false,
        detail: `key ${index + 1} of ${keys.length} is not ${SEAL_KEY_BYTES} bytes in base64`,
      };
    }
    if (keys.findIndex((other) => other.equals(key)) !== index) {
      return { ok: false, detail: `key ${index + 1} of ${keys.length} is listed twice` };
    }
  }
  return { ok: true, keys };
}

/** Reads ids of keys as they are printed, with commas between them. */
export function parseKeyIds(text: string): readonly string[] | Error {
  const ids = text.split(',').map((id) => id.trim().toLowerCase());
  const isId = new RegExp(`^[0-9a-f]{${2 * KEY_ID_BYTES}}$`);
  return ids.every((id) => isId.test(id))
    ? ids
    : new Error(
        `must be the ids of keys, each of ${2 * KEY_ID_BYTES} hexadecimal digits, with commas between them`,
      );
}
