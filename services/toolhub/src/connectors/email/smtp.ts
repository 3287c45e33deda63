import { isIP, type Socket } from 'node:net';
import { type GuardedPlace, openSocket } from '@libs/egress';
import { createTransport, type SendMailOptions, type Transporter } from 'nodemailer';
import type { ToolContext } from '../connector.ts';
import { type EmailCredential, isSecure, type MailServer, usesOAuth } from './credential.ts';
import { fromSmtpError } from './failures.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const GREETING_TIMEOUT_MS = 10_000;
const SOCKET_TIMEOUT_MS = 60_000;

export interface SentMail {
  messageId: string;
  accepted: string[];
  rejected: string[];
}

export async function sendMail(
  context: ToolContext<EmailCredential>,
  mail: SendMailOptions,
): Promise<SentMail> {
  return withTransport(context, async (transport) => {
    const sent = await transport.sendMail(mail);
    return { messageId: sent.messageId, accepted: sent.accepted ?? [], rejected: sent.rejected ?? [] };
  });
}

/** Connects and logs in, sends nothing. */
export async function checkSmtp(context: ToolContext<EmailCredential>): Promise<void> {
  await withTransport(context, (transport) => transport.verify());
}

async function withTransport<T>(
  context: ToolContext<EmailCredential>,
  work: (transport: Transporter) => Promise<T>,
): Promise<T> {
  const { credential, guard, signal } = context;
  signal.throwIfAborted();
  const place = await guard.resolve({ host: credential.smtp.host, port: credential.smtp.port });
  const opened = openSocket(place, { timeoutMs: CONNECT_TIMEOUT_MS, signal });
  try {
    const socket = await opened.connected;
    return await work(createTransport(transportOptions(credential.smtp, place, socket)));
  } catch (error) {
    signal.throwIfAborted();
    throw fromSmtpError(error, { oauth: usesOAuth(credential.smtp) });
  } finally {
    opened.close();
  }
}

function transportOptions(server: MailServer, place: GuardedPlace, socket: Socket) {
  const secure = isSecure(server);
  const plainAllowed = !secure && place.mayBePlain;
  return {
    host: place.address,
    port: place.port,
    secure,
    ...(isIP(place.host) === 0 ? { servername: place.host } : {}),
    // Where plain text is allowed, unverified encryption is still better than none.
    ...(plainAllowed ? { tls: { rejectUnauthorized: false } } : secure ? {} : { requireTLS: true }),
    getSocket: (_options: unknown, done: (error: null, options: { connection: Socket }) => void) =>
      done(null, { connection: socket }),
    ...('password' in server
      ? { auth: { user: server.user, pass: server.password } }
      : {
          auth: { type: 'custom', method: 'BEARER', user: server.user, pass: server.access_token },
          customAuth: { BEARER: authenticateWithToken },
        }),
    greetingTimeout: GREETING_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false as const,
  };
}

interface AuthStep {
  auth: { credentials?: { user?: string | undefined; pass?: string | undefined } | undefined };
  authMethods: string[];
  sendCommand(command: string): Promise<{ status: number; response: string }>;
}

const CONTINUE = 334;
const AUTHENTICATED = 235;

/** XOAUTH2 where the server names it, else OAUTHBEARER (RFC 7628), which nodemailer does not know. */
async function authenticateWithToken({ auth, authMethods, sendCommand }: AuthStep): Promise<void> {
  const { user = '', pass: token = '' } = auth.credentials ?? {};
  const isXoauth2 = authMethods.includes('XOAUTH2');
  const fields = isXoauth2
    ? [`user=${user}`, `auth=Bearer ${token}`, '', '']
    : [`n,a=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},`, `auth=Bearer ${token}`, '', ''];
  const initial = Buffer.from(fields.join('\x01')).toString('base64');
  let answer = await sendCommand(`AUTH ${isXoauth2 ? 'XOAUTH2' : 'OAUTHBEARER'} ${initial}`);
  // The server explains its refusal first and says no only after an empty (or \x01) line.
  if (answer.status === CONTINUE) answer = await sendCommand(isXoauth2 ? '' : 'AQ==');
  if (answer.status !== AUTHENTICATED) throw new Error('the access token was refused');
}
