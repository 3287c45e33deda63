/*
 * Where a browser may be sent with a code. Addresses are compared as they were written: a parser that repairs
 * spellings (case, ports, dot segments, backslashes) would let through what another parser reads as another place.
 */

const URI_CHARACTERS_MAX = 2_048;

const IDENTIFIER = '[A-Za-z0-9_-]+';
/** Characters of a path (RFC 3986), percent-encodings whole. */
const PATH = "(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*";
const LOOPBACK = new RegExp(`^http://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])(?::([1-9][0-9]{0,4}))?${PATH}$`);
const ASSISTANT = new RegExp(
  `^https://(?:chatgpt\\.com|chat\\.openai\\.com)/aip/${IDENTIFIER}/oauth/callback$`,
);
const PORT_MAX = 65_535;

const DESKTOP_ASSISTANT: readonly string[] = [
  'https://claude.ai/api/mcp/auth_callback',
  'https://claude.com/api/mcp/auth_callback',
];

export function ownCallback(publicUrl: string): string {
  return `${publicUrl}/oauth/mcp-callback`;
}

/** What the own client is registered with, in the notation of its row: `*` is a port and path, or one path segment. */
export function ownRedirectUris(publicUrl: string): string[] {
  return [
    ownCallback(publicUrl),
    'http://localhost:*',
    'http://127.0.0.1:*',
    'http://[::1]:*',
    ...DESKTOP_ASSISTANT,
    'https://chatgpt.com/aip/*/oauth/callback',
    'https://chat.openai.com/aip/*/oauth/callback',
  ];
}

/** Whether the platform's own client may use the address. */
export function isOwnRedirect(uri: string, publicUrl: string): boolean {
  if (uri.length > URI_CHARACTERS_MAX) return false;
  return (
    uri === ownCallback(publicUrl) ||
    DESKTOP_ASSISTANT.includes(uri) ||
    ASSISTANT.test(uri) ||
    isPlainLoopback(uri)
  );
}

function isPlainLoopback(uri: string): boolean {
  const match = LOOPBACK.exec(uri);
  return match !== null && Number(match[1] ?? 80) <= PORT_MAX;
}

const LOOPBACK_PORT = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::([0-9]{1,5}))?(?=[/?]|$)/;

/** Whether an address is a program on the visitor's own machine. */
export function isLoopback(uri: string): boolean {
  return LOOPBACK_PORT.test(uri);
}

/** Native programs listen on whatever port is free (RFC 8252 §7.3), so that alone may differ. */
function withoutLoopbackPort(uri: string): string | undefined {
  const match = LOOPBACK_PORT.exec(uri);
  if (match === null || Number(match[2] ?? 80) > PORT_MAX) return undefined;
  return `${match[1]}${uri.slice(match[0].length)}`;
}

/** Whether a client that registered these addresses may use this one: exactly, the port of loopback aside. */
export function isRegisteredRedirect(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true;
  const portless = withoutLoopbackPort(uri);
  return portless !== undefined && registered.some((other) => withoutLoopbackPort(other) === portless);
}

/** Schemes that run something in the browser instead of leaving it. */
const SCRIPT_SCHEMES: ReadonlySet<string> = new Set([
  'javascript:',
  'vbscript:',
  'data:',
  'blob:',
  'file:',
  'about:',
  'filesystem:',
  'view-source:',
  'ws:',
  'wss:',
  'ftp:',
]);

/** Why an address cannot be registered; undefined when it can. */
export function registrationFault(uri: string): string | undefined {
  if (uri.length > URI_CHARACTERS_MAX) return 'is too long';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: URL parsers drop some of these silently.
  if (/[\u0000-\u0020\u007f\\]/.test(uri)) return 'holds spaces, control characters or backslashes';
  if (!URL.canParse(uri)) return 'is not an absolute URI';
  const { protocol, username, password } = new URL(uri);
  if (uri.includes('#')) return 'has a fragment';
  if (username !== '' || password !== '' || /^[a-z]+:\/\/[^/?]*@/i.test(uri)) return 'has user information';
  if (SCRIPT_SCHEMES.has(protocol)) return `uses the scheme ${protocol}`;
  if (protocol === 'http:' && withoutLoopbackPort(uri) === undefined)
    return 'uses plain http on a host other than localhost, 127.0.0.1 or [::1]';
  return undefined;
}

/** The host that the consent page names. */
export function redirectHost(uri: string): string {
  const { host, protocol } = new URL(uri);
  return /^https?:$/.test(protocol) && host !== '' ? host : `${protocol}//${host}`;
}
