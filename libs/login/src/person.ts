import { domainToASCII, domainToUnicode } from 'node:url';
import type { Queryable } from '@libs/db';

/** What the library must know of somebody who has an account. */
export interface Person {
  id: string;
  email: string;
  /** Whether somebody has proved to read mail at the address. */
  emailVerified: boolean;
}

/** The service's own table of people. The library keeps everything else about getting in. */
export interface People<P extends Person> {
  find(db: Queryable, id: string): Promise<P | undefined>;
  /** By the first of the keys that somebody has. */
  findLogin(
    db: Queryable,
    emailKeys: readonly string[],
  ): Promise<{ person: P; passwordHash: string } | undefined>;
  /** Locks the person's row until the end of the transaction; false where there is none. */
  lock(tx: Queryable, id: string): Promise<boolean>;
  setPassword(tx: Queryable, id: string, passwordHash: string): Promise<void>;
  /** The first verification is the one that counts; undefined where there is nobody. */
  markVerified(tx: Queryable, id: string, at: Date): Promise<P | undefined>;
}

/**
 * How the tables name the person. A service that had its tables before the library keeps them as they are: renaming a
 * column would stop the processes of the version before, which run beside the new one while it is rolled out.
 */
export type PersonColumn = 'person_id' | 'customer_id';

export const PASSWORD_CHARACTERS_MIN = 10;
/** Long enough for any pass phrase; the bound keeps hashing from becoming a way to keep the server busy. */
export const PASSWORD_CHARACTERS_MAX = 256;
export const EMAIL_CHARACTERS_MAX = 254;

/** One address, one account: neither case, nor the way an accent is composed or a domain is spelled, makes another one. */
export function emailKey(email: string): string {
  const written = writtenKey(email);
  return withDomain(written, domainToASCII);
}

/**
 * What an account of this address may be stored under, as it was written first: a domain beyond ASCII has two spellings
 * (`münchen.de`, `xn--mnchen-3ya.de`), and the accounts that there are may have either. One key for all other addresses.
 */
export function emailKeys(email: string): string[] {
  const written = writtenKey(email);
  return [...new Set([written, emailKey(email), withDomain(written, domainToUnicode)])];
}

function writtenKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** Leaves alone what has one spelling, and what is no domain. */
function withDomain(key: string, spell: (domain: string) => string): string {
  const at = key.lastIndexOf('@') + 1;
  const domain = key.slice(at);
  if (!/[^\0-\x7f]|xn--/.test(domain)) return key;
  return `${key.slice(0, at)}${spell(domain) || domain}`;
}

/** Loose on purpose: only the mail server knows which local parts exist. */
export const EMAIL_PATTERN =
  '^[^\\s@<>"(),:;\\[\\]\\\\]{1,64}@[^\\s@.<>"(),:;\\[\\]\\\\]+(\\.[^\\s@.<>"(),:;\\[\\]\\\\]+)*$';
/** What somebody is told whose address does not match it. */
export const EMAIL_MISMATCH = 'Must be an e-mail address, such as name@example.com.';
