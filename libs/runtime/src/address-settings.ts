import { isIP } from 'node:net';
import { type SettingReader, splitList } from './setting-reader.ts';

/** A database may be named without a host, where it listens on a socket; what `needsHost` names one. */
export function readUrl({
  protocols = ['http:', 'https:'],
  needsHost = false,
}: {
  protocols?: readonly string[];
  needsHost?: boolean;
}): SettingReader<string> {
  const beginnings = protocols.map((protocol) => `${protocol}//`);
  return (text) => {
    const begins = beginnings.some((beginning) => text.toLowerCase().startsWith(beginning));
    const url = begins && URL.canParse(text) ? new URL(text) : undefined;
    if (url !== undefined && !(needsHost && url.hostname === '')) return text.replace(/\/+$/, '');
    return new Error(
      `must be a URL that begins with ${beginnings.join(' or ')}${needsHost ? ' and names a host' : ''}`,
    );
  };
}

/** An address without a path: whoever serves there owns all of it. */
export function readOrigin(): SettingReader<string> {
  return (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain = url !== undefined && /^https?:\/\/[^/?#@\\]+\/?$/i.test(text);
    return isPlain
      ? url.origin
      : new Error('must be an http or https address without path, user, query and fragment');
  };
}

const HOST =
  /^(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?|\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]?|\*)$/;

export function readHost(): SettingReader<string> {
  return (text) =>
    HOST.test(text) ? text.replace(/^\[|\]$/g, '') : new Error('must be a host name or an IP address');
}

const HOST_PORT = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9*](?:[A-Za-z0-9*._-]{0,252}))(?::(\d{1,5}))$/;

export function readHostPorts(): SettingReader<readonly string[]> {
  return (text) => {
    const entries = splitList(text);
    const bad = entries.findIndex((entry) => {
      const port = Number(HOST_PORT.exec(entry)?.[2] ?? 0);
      return port < 1 || port > 65_535;
    });
    if (bad === -1) return Object.freeze(entries.map((entry) => entry.toLowerCase()));
    return new Error(`must be a comma list of host:port (entry ${bad + 1} is not)`);
  };
}

const PROXY_NAMES = new Set(['loopback', 'linklocal', 'uniquelocal']);

function isProxy(entry: string): boolean {
  if (PROXY_NAMES.has(entry)) return true;
  const [address = '', bits, ...rest] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[1-9][0-9]{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

export function readProxies(): SettingReader<readonly string[]> {
  return (text) => {
    const entries = splitList(text);
    const bad = entries.findIndex((entry) => !isProxy(entry));
    if (bad === -1 && entries.length > 0) return Object.freeze(entries);
    return new Error(
      `must be a comma list of addresses, networks (10.0.0.0/8), loopback, linklocal or uniquelocal (entry ${bad + 1} is not)`,
    );
  };
}
