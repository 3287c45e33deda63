import { strict as assert } from 'node:assert';
import { isIP, type Socket } from 'node:net';
import { type GuardedPlace, openSocket, SmtpLimitExceeded, SmtpLimiter } from '@libs/egress';
import type { SendMailOptions } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import { ConnectorError, doingNothing, type ToolContext } from '../../connector.ts';
import { type ConnectionShares, ownerOf } from '../connection-shares.ts';
import { type EmailCredential, isSecure, type MailServer, usesOAuth } from '../credential.ts';
import { fromSmtpError } from '../failures.ts';

/** A server that says nothing is given up early: its place is another customer's. */
const CONNECT_TIMEOUT_MS = 5_000;
const GREETING_TIMEOUT_MS = 5_000;
/** From the first packet until the login is done. */
const LOGIN_MS_MAX = 15_000;
const SOCKET_TIMEOUT_MS = 30_000;

type EmailContext = ToolContext<EmailCredential>;

export interface SentMail {
  messageId: string;
  accepted: string[];
  rejected: string[];
}

export function sendMail(
  shares: ConnectionShares,
  context: EmailContext,
  mail: SendMailOptions,
): Promise<SentMail> {
  return withConnection(shares, context, async (connection) => {
    const message = new MailComposer(mail).compile();
    checkLetters(connection, message.getEnvelope());
    const { promise, resolve, reject } = Promise.withResolvers<SentMail>();
    const content = message.createReadStream();
    let isGiven = false;
    content.once('end', () => {
      isGiven = true;
    });
    // The library says of every cut and every silence that the connection failed, whatever had been sent by then.
    const fail = (error: Error) => reject(isGiven ? Object.assign(error, { command: 'DATA' }) : error);
    connection.once('error', fail);
    connection.send(message.getEnvelope(), content, (error, info) => {
      if (error) return fail(error);
      const addressesOf = (list: unknown) => (Array.isArray(list) ? list.map(String) : []);
      return resolve({
        messageId: message.messageId(),
        accepted: addressesOf(info?.accepted),
        rejected: addressesOf(info?.rejected),
      });
    });
    return promise;
  });
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * An address with such letters before its `@` may be given to a server only that takes them (RFC 6531 3.2): another might
 * read the bytes as an address of somebody else. The library gives it to any.
 */
function checkLetters(
  connection: SmtpConnection,
  { from, to }: { from: string | false; to: readonly string[] },
): void {
  const { _supportedExtensions: extensions } = connection as unknown as { _supportedExtensions: string[] };
  assert(Array.isArray(extensions), 'the SMTP library does not say what the server can do');
  if (extensions.includes('SMTPUTF8') || ![from || '', ...to].some((one) => BEYOND_ASCII.test(one))) return;
  throw new ConnectorError(
    'platform_error',
    'the SMTP server takes no addresses with letters beyond ASCII before the @; nothing was sent',
    { platformCode: 'SMTPUTF8', nothingDone: true },
  );
}

/** Connects and logs in, sends nothing. */
export function checkSmtp(shares: ConnectionShares, context: EmailContext): Promise<void> {
  return withConnection(shares, context, async (connection) => connection.quit());
}

async function withConnection<T>(
  shares: ConnectionShares,
  context: EmailContext,
  work: (connection: SmtpConnection) => Promise<T>,
): Promise<T> {
  const { credential, guard, signal } = context;
  signal.throwIfAborted();
  const { host, port } = credential.smtp;
  const place = await doingNothing(guard.resolve({ host, port }));
  const release = await shares.take(ownerOf(context), signal);
  const opened = openSocket(place, { timeoutMs: CONNECT_TIMEOUT_MS, signal });
  const refusal = Promise.withResolvers<never>();
  // Nobody waits for it once the work is done.
  refusal.promise.catch(() => {});
  try {
    const socket = await opened.connected;
    const connection = new SmtpConnection(connectionOptions(credential.smtp, place, socket));
    let isAtWork = false;
    limit(connection, ({ message, code }) => {
      const options = { platformCode: code, outcomeOpen: isAtWork };
      refusal.reject(new ConnectorError('platform_error', `the SMTP server sent ${message}`, options));
      opened.close();
    });
    await Promise.race([loggedIn(connection, credential.smtp), refusal.promise]);
    isAtWork = true;
    return await Promise.race([work(connection), refusal.promise]);
  } catch (error) {
    signal.throwIfAborted();
    throw fromSmtpError(error, { oauth: usesOAuth(credential.smtp) });
  } finally {
    opened.close();
    release();
  }
}

/** Stands before the library's parser, behind TLS: every socket that the connection ever has hands its data here. */
function limit(connection: SmtpConnection, refuse: (error: SmtpLimitExceeded) => void): void {
  const insides = connection as unknown as { _onData(chunk: Buffer): void };
  assert(typeof insides._onData === 'function', 'the SMTP library has no input to guard');
  const limiter = new SmtpLimiter();
  const parse = insides._onData.bind(connection);
  let isRefused = false;
  insides._onData = (chunk) => {
    if (isRefused) return;
    try {
      limiter.check(chunk);
    } catch (error) {
      if (!(error instanceof SmtpLimitExceeded)) throw error;
      isRefused = true;
      return refuse(error);
    }
    parse(chunk);
  };
}

function loggedIn(connection: SmtpConnection, server: MailServer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => reject(Object.assign(new Error('no login in time'), { code: 'ETIMEDOUT' })),
    LOGIN_MS_MAX,
  );
  // Stays for as long as the connection lives: an error that nobody waits for must not end the process.
  connection.on('error', reject);
  connection.once('end', () =>
    reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNECTION' })),
  );
  connection.connect((error?: Error | null) => {
    if (error) return reject(error);
    if (!connection.allowsAuth) return resolve();
    return connection.login(authOf(server), (refusal?: Error | null) =>
      refusal ? reject(refusal) : resolve(),
    );
  });
  return promise.finally(() => clearTimeout(timer));
}

function authOf(server: MailServer) {
  return 'password' in server
    ? { type: 'LOGIN', user: server.user, credentials: { user: server.user, pass: server.password } }
    : {
        type: 'CUSTOM',
        method: 'BEARER',
        user: server.user,
        credentials: { user: server.user, pass: server.access_token },
      };
}

function connectionOptions(server: MailServer, place: GuardedPlace, socket: Socket) {
  const secure = isSecure(server);
  const plainAllowed = !secure && place.mayBePlain;
  return {
    host: place.address,
    port: place.port,
    secure,
    connection: socket,
    ...(isIP(place.host) === 0 ? { servername: place.host } : {}),
    // Where plain text is allowed, unverified encryption is still better than none.
    ...(plainAllowed ? { tls: { rejectUnauthorized: false } } : secure ? {} : { requireTLS: true }),
    ...('password' in server ? {} : { customAuth: { BEARER: authenticateWithToken } }),
    greetingTimeout: GREETING_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
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
