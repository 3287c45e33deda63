import { isIP } from 'node:net';
import type { GuardedPlace } from '@libs/egress';
import { ImapFlow, type ImapFlowOptions } from 'imapflow';
import type { AddressGuard } from '../connector.ts';
import { isSecure, type MailServer } from './credential.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const GREETING_TIMEOUT_MS = 10_000;
const SOCKET_TIMEOUT_MS = 60_000;
/** The answer to one command; message parts come in pieces far below this. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;

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
    maxLineLength: RESPONSE_BYTES_MAX,
    maxLiteralSize: RESPONSE_BYTES_MAX,
    maxResponseSize: RESPONSE_BYTES_MAX + 64 * 1024,
    clientInfo: { name: 'Toolhub', version: false, vendor: false, 'support-url': false },
  };
}

/** A logged-in connection. It closes at once when the signal aborts, also half-way through the login. */
export async function connectImap(
  server: MailServer,
  { guard, signal }: { guard: AddressGuard; signal: AbortSignal },
): Promise<ImapFlow> {
  const place = await guard.resolve({ host: server.host, port: server.port });
  signal.throwIfAborted();
  const client = new ImapFlow(imapOptions(server, place));
  // Every failure also rejects the command that met it; the event alone must not end the process.
  client.on('error', () => {});
  const abort = () => client.close();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
