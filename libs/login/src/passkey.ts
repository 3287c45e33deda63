/** A key that a person's device holds, as the person sees it. */
export interface Passkey {
  id: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** With what a signature is checked by. */
export interface StoredPasskey extends Passkey {
  personId: string;
  /** As the device names it, in base64url. */
  credentialId: string;
  publicKey: Uint8Array<ArrayBuffer>;
  counter: number;
  transports: readonly string[];
}

/** What a challenge was made for: one kind never stands in for another. */
export type ChallengeKind = 'register' | 'log_in' | 'second_factor';

export interface Challenge {
  kind: ChallengeKind;
  personId: string | null;
  challenge: string;
  /** Of a second factor: which password was proved before it. */
  passwordProof: Buffer | null;
}

/** The site as devices know it: they give a passkey to pages of this host only. */
export interface RelyingParty {
  name: string;
  host: string;
  origins: readonly string[];
}

/** The origins of a service that devices take for this host; an address in numbers is none. */
export function relyingPartyOf(name: string, publicUrl: string, origins: Iterable<string>): RelyingParty {
  const host = new URL(publicUrl).hostname;
  return { name, host, origins: [...origins].filter((origin) => new URL(origin).hostname === host) };
}
