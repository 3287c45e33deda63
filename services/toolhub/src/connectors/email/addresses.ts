import parseAddressList from 'nodemailer/lib/addressparser';

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

export function hasControlCharacters(value: string): boolean {
  return CONTROL.test(value);
}

/** Exactly one mailbox, or undefined: a list or a group in one entry would smuggle in more recipients. */
export function parseAddress(entry: string): Mailbox | undefined {
  if (entry.length > ENTRY_LENGTH_MAX || hasControlCharacters(entry)) return undefined;
  const [first, ...others] = parseAddressList(entry);
  if (first === undefined || others.length > 0 || first.address === undefined) return undefined;
  const { address, name } = first;
  if (address.length > ADDRESS_LENGTH_MAX || !ADDRESS.test(address)) return undefined;
  return { name, address };
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

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

export function sameAddress(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
