import { isIP } from 'node:net';
import { type GuardedPlace, IMAP_LIMITS } from '@libs/egress';
import { ImapFlow, type ImapFlowOptions } from 'imapflow';
import { type AddressGuard, ConnectorError, doingNothing, withNothingDone } from '../../connector.ts';
import { isSecure, type MailServer, usesOAuth } from '../credential.ts';
import { fromImapError } from '../failures.ts';
import { guardClient } from './guard.ts';
import { takeNamespaces } from './namespaces.ts';

/** A server that says nothing is given up early: its place is another customer's. */
const CONNECT_TIMEOUT_MS = 5_000;
const GREETING_TIMEOUT_MS = 5_000;
/** From the first packet until the login is done. */
const LOGIN_MS_MAX = 15_000;
const SOCKET_TIMEOUT_MS = 30_000;

function imapOptions(server: MailServer, place: GuardedPlace): ImapFlowOptions {
  const secure = isSecure(server);
  const plainAllowed = !secure && place.mayBePlain;
  return {
    // The checked address is dialled; the name stays for TLS.
    host: place.address,
    port: place.port,
    secure,
    ...(isIP(place.host) === 0 ? { servername: place.host } : {}),
    // Where plain text is allowed, unverified encryption is still better than none.
    ...(plainAllowed ? { tls: { rejectUnauthorized: false } } : secure ? {} : { doSTARTTLS: true }),
    auth: {
      user: server.user,
      ...('password' in server ? { pass: server.password } : { accessToken: server.access_token }),
    },
    logger: false,
    disableAutoIdle: true,
    // A deflated stream could unpack to more memory than the limits on what arrives suggest.
    disableCompression: true,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: GREETING_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    // The guard before the parser is stricter; these hold should a new version go around it.
    maxLineLength: IMAP_LIMITS.lineBytes,
    maxLiteralSize: IMAP_LIMITS.literalBytes,
    maxResponseSize: IMAP_LIMITS.commandBytes,
    // Its searches answer in sets of numbers, of which one line may stand for millions.
    disableIMAP4rev2: true,
    clientInfo: { name: 'Toolhub', version: false, vendor: false, 'support-url': false },
  };
}

/** A logged-in connection. It closes at once when the signal aborts, also half-way through the login. */
export async function connectImap(
  server: MailServer,
  { guard, signal }: { guard: AddressGuard; signal: AbortSignal },
): Promise<ImapFlow> {
  const place = await doingNothing(guard.resolve({ host: server.host, port: server.port }));
  signal.throwIfAborted();
  const client = new ImapFlow(imapOptions(server, place));
  // Every failure also rejects the command that met it; the event alone must not end the process.
  client.on('error', () => {});
  const imapGuard = guardClient(client);
  const abort = () => client.close();
  signal.addEventListener('abort', abort, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    client.close();
  }, LOGIN_MS_MAX);
  try {
    await client.connect();
    takeNamespaces(client);
    return client;
  } catch (error) {
    client.close();
    const failure = isLate
      ? new ConnectorError('platform_unavailable', 'the IMAP server took too long to log in')
      : (imapGuard.failure ?? fromImapError(error, { oauth: usesOAuth(server) }));
    // Nothing has been asked for yet, so nothing can have been done.
    throw withNothingDone(failure);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
