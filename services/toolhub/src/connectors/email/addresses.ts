import { domainToASCII } from 'node:url';

export interface Mailbox {
  name: string;
  address: string;
}

const ADDRESS_LENGTH_MAX = 320;
export const ENTRY_LENGTH_MAX = 512;
/** As much of a name as fits beside the longest address, also where a backslash stands before each character. */
const NAME_CUT_LENGTH = 90;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a line break here would start another header.
const CONTROL = /[\u0000-\u001f\u007f\u2028\u2029]/;
const ADDRESS = /^[^\s<>"(),:;@\\[\]]+@[^\s<>"(),:;@\\[\]]+$/u;
const QUOTED = /"(?:[^"\\]|\\.)*"/gu;
/** A comma within a name (`Doe, John <…>`) is taken, as people write it; words that are addresses are looked for. */
const NAMED = /^(?<phrase>(?:"(?:[^"\\]|\\.)*"|[^<>":;])*)<(?<address>[^<>]*)>$/u;

export function hasControlCharacters(value: string): boolean {
  return CONTROL.test(value);
}

/** An address alone, without a name: what does not pass is never guessed at, since a part of it may be another's. */
export function isAddress(value: string): boolean {
  return value.length <= ADDRESS_LENGTH_MAX && ADDRESS.test(value) && !hasControlCharacters(value);
}

/**
 * Exactly one mailbox, `a@example.com` or `Name <a@example.com>`, or undefined: a list or a group in one entry would
 * smuggle in more recipients, and of anything else a part could be taken for the address of somebody else.
 */
export function parseAddress(entry: string): Mailbox | undefined {
  if (entry.length > ENTRY_LENGTH_MAX || hasControlCharacters(entry)) return undefined;
  const whole = entry.trim();
  if (isAddress(whole)) return { name: '', address: whole };
  const { phrase, address } = NAMED.exec(whole)?.groups ?? {};
  if (phrase === undefined || address === undefined || !isAddress(address)) return undefined;
  const words = phrase.replaceAll(QUOTED, '').split(/[\s,]+/);
  if (words.some((word) => isAddress(word) && !sameAddress(word, address))) return undefined;
  return { name: unquoted(phrase), address };
}

function unquoted(phrase: string): string {
  return phrase.replaceAll(QUOTED, (word) => word.slice(1, -1).replaceAll(/\\(.)/gu, '$1')).trim();
}

/** `Name <a@example.com>`, the form in which messages show people and in which `to` takes them back. */
export function formatMailbox({ name, address }: Mailbox): string {
  const plain = oneLine(name);
  if (plain === '' || plain === address) return address;
  const entry = entryOf(plain, address);
  return entry.length <= ENTRY_LENGTH_MAX ? entry : entryOf(cutName(plain), address);
}

function cutName(name: string): string {
  // A cut may part the two halves of a character.
  return name.slice(0, NAME_CUT_LENGTH).toWellFormed().trimEnd();
}

function entryOf(plain: string, address: string): string {
  // Everything that structures a list of addresses must stay inside quotes when it is part of a name.
  const quoted = /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]*$/u.test(plain)
    ? plain
    : `"${plain.replaceAll(/["\\]/g, '\\$&')}"`;
  return `${quoted} <${address}>`;
}

/** Text of a header as one line: decoded words may hold line breaks that the sender put there to be copied on. */
export function oneLine(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
  return value.replaceAll(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ').trim();
}

/** As it stands in headers, where a name beyond ASCII has a form of its own (RFC 5890): `xn--mnchen-3ya.de`. */
export function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return domainToASCII(domain) || domain;
}

/** The mailbox itself is the server's affair; nearly none tells its cases apart. */
export function sameAddress(left: string, right: string): boolean {
  return keyOf(left) === keyOf(right);
}

function keyOf(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? address.toLowerCase() : `${address.slice(0, at).toLowerCase()}@${domainOf(address)}`;
}
