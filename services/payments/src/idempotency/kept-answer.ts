import type { Sealer } from '@libs/seal';
import type { KeyedResponse, KeyPlace } from './store.ts';

/** What a repeat is held against, and what it is answered with. */
export interface KeptAnswer {
  readonly fingerprint: Buffer;
  readonly body: string;
}

type SealedAnswer = Pick<KeyedResponse, 'fingerprint' | 'responseSealed'>;

/** In the column of fingerprints: it is sealed with the answer. */
const WITHIN = Buffer.alloc(0);
/** Of a SHA-256 in base64url. */
const FINGERPRINT_CHARACTERS = 43;

export function contextOf({ tenantId, path, key }: KeyPlace): string {
  return `idempotency ${JSON.stringify([tenantId, path, key])}`;
}

/**
 * Answers may hold secrets that are shown once, so they are kept as carefully as those. So is the fingerprint: a body can hold an
 * account number, of which everything else lies in the clear beside it, and so few are possible that all of them can be tried.
 * Under one seal with the answer it comes under a newer key together with it; a keyed fingerprint could not be made anew.
 */
export function sealAnswer(
  sealer: Pick<Sealer, 'seal'>,
  place: KeyPlace,
  { fingerprint, body }: KeptAnswer,
): SealedAnswer {
  const text = fingerprint.toString('base64url') + body;
  return { fingerprint: WITHIN, responseSealed: sealer.seal(text, contextOf(place)) };
}

export function openAnswer(
  sealer: Pick<Sealer, 'openText'>,
  place: KeyPlace,
  { fingerprint, responseSealed }: SealedAnswer,
): KeptAnswer {
  const text = sealer.openText(responseSealed, contextOf(place));
  // As the version before kept it.
  if (fingerprint.length > WITHIN.length) return { fingerprint, body: text };
  return {
    fingerprint: Buffer.from(text.slice(0, FINGERPRINT_CHARACTERS), 'base64url'),
    body: text.slice(FINGERPRINT_CHARACTERS),
  };
}
