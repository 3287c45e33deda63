import { Type } from 'typebox';
import Format from 'typebox/format';
import type { Place } from '../connector.ts';

/** Fields that the credentials of most platforms share. People paste them, so what is wrong with one is said in words. */

/** A token travels in a header, so it has no spaces and no line ends. */
export const pastedToken = (lengthMax: number, description: string) =>
  Type.String({
    pattern: `^[!-~]{1,${lengthMax}}$`,
    'x-mismatch': 'Must be in one piece, without spaces.',
    description,
  });

/** What looks like an address need not be one: a port may be too large, a name may be none. */
const SERVER_FORMAT = 'server-address';
Format.Set(SERVER_FORMAT, (address) => URL.canParse(address));

/** A server that anybody may run: where it is, without a path. */
export const serverAddress = (example: string, description: string) =>
  Type.String({
    pattern: '^https?://[^\\s/?#@\\\\]{1,253}/?$',
    format: SERVER_FORMAT,
    'x-mismatch': `Must be the address of a server, such as ${example}.`,
    description,
  });

/** Where an address leads. */
export function placeAt(address: string): Place {
  const { hostname, port, protocol } = new URL(address);
  const isPlain = protocol !== 'https:';
  // Between brackets it is an IPv6 address, and stands without them everywhere else.
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (isPlain ? 80 : 443), isPlain };
}
