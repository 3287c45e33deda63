import { isIP } from 'node:net';
import { canonicalAddress } from './address.ts';

const NAME_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;

export interface Host {
  /** An address in canonical form (IPv6 without brackets), or a lower-case name without a trailing dot. */
  readonly text: string;
  readonly isAddress: boolean;
  readonly hadTrailingDot: boolean;
  /** False for decimal, hex, octal, short, percent-encoded, full-width and mapped spellings of what `text` says. */
  readonly isPlainlySpelled: boolean;
}

function stripDot(text: string): string {
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

function isName(text: string): boolean {
  if (text.length === 0 || text.length > NAME_LENGTH_MAX) return false;
  return text.split('.').every((label) => label.length > 0 && label.length <= LABEL_LENGTH_MAX);
}

/** Reads a host as a browser would, so that every spelling of an address becomes that one address. */
export function parseHost(spelled: string): Host | undefined {
  // A bare IPv6 address, as mail settings have it.
  const bracketed = isIP(spelled) === 6 ? `[${spelled}]` : spelled;
  // What would end the host, or start another part of a URL, is no part of one.
  if (bracketed === '' || /[\s/\\?#@]/.test(bracketed)) return undefined;
  if (bracketed.includes(':') && !/^\[[0-9A-Fa-f:.]+\]$/.test(bracketed)) return undefined;
  if (!URL.canParse(`https://${bracketed}/`)) return undefined;
  const { hostname } = new URL(`https://${bracketed}/`);
  if (hostname.startsWith('[')) {
    const text = canonicalAddress(hostname.slice(1, -1));
    if (text === undefined) return undefined;
    return { text, isAddress: true, hadTrailingDot: false, isPlainlySpelled: text.includes(':') };
  }
  const hadTrailingDot = bracketed.endsWith('.') || hostname.endsWith('.');
  const text = stripDot(hostname);
  const isAddress = isIP(text) === 4;
  if (!isAddress && !isName(text)) return undefined;
  const isPlainlySpelled = isAddress ? stripDot(bracketed) === text : !bracketed.includes('%');
  return { text, isAddress, hadTrailingDot, isPlainlySpelled };
}

/** The form in which allowed places are compared. */
export function placeOf(hostText: string, port: number): string {
  return hostText.includes(':') ? `[${hostText}]:${port}` : `${hostText}:${port}`;
}

export function isLocalhostName(text: string): boolean {
  return text === 'localhost' || text.endsWith('.localhost');
}
