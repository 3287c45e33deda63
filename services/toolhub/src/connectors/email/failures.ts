import type { ImapFlowError } from 'imapflow';
import { ConnectorError } from '../connector.ts';
import { knownLoginRefusal } from './login-refusals.ts';

/** IMAP response codes (RFC 5530) that a later try may not meet again. */
const PASSING_IMAP_CODES: ReadonlySet<string> = new Set([
  'UNAVAILABLE',
  'INUSE',
  'SERVERBUG',
  'CONTACTADMIN',
]);
const LIMIT_IMAP_CODES: ReadonlySet<string> = new Set(['LIMIT', 'THROTTLED']);
/** Gmail and others have no code for it, and say it in the answer to the login as well, where it is no wrong password. */
const LIMIT_WORDS =
  /too many (?:simultaneous |concurrent )?connections|maximum number of connections|connection limit|bandwidth limit|rate limit/i;
/** A certificate that does not fit stays so: a retry would not help, and the customer has to know. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ALTNAME|ERR_TLS/;
const REASON_LENGTH_MAX = 200;

/** Servers echo what they were sent; a short, printable piece of it is enough to act on. */
function reasonOf(text: unknown): string {
  if (typeof text !== 'string') return '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters have no place in a message.
  const clean = text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  return clean === '' ? '' : `: ${clean.slice(0, REASON_LENGTH_MAX)}`;
}

function certificateError(protocol: string, code: string, cause: unknown): ConnectorError {
  return new ConnectorError(
    'platform_error',
    `the ${protocol} server's certificate is not accepted (${code})`,
    {
      platformCode: code,
      cause,
    },
  );
}

/** What the library says where it does not swallow it. */
export function connectionLost(): Error {
  return Object.assign(new Error('the connection ended within a command'), { code: 'NoConnection' });
}

export function fromImapError(
  error: unknown,
  { oauth, refused = 'the command' }: { oauth: boolean; refused?: string },
): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const failure = error as ImapFlowError;
  const code = failure.serverResponseCode?.toUpperCase() ?? '';
  if (PASSING_IMAP_CODES.has(code)) {
    // A command that is answered by NO has failed, and the same call does what is left of it.
    return new ConnectorError('platform_unavailable', `the IMAP server is not available now (${code})`, {
      ...{ cause: error, nothingDone: true },
    });
  }
  // The library looks before it sends anything (RFC 7889).
  if (code === 'APPENDLIMIT')
    return new ConnectorError('platform_error', 'the IMAP server keeps no message that is so large', {
      ...{ platformCode: code, cause: error },
    });
  const isLimit = LIMIT_IMAP_CODES.has(code) || LIMIT_WORDS.test(failure.responseText ?? '');
  if (failure.code === 'ETHROTTLE' || isLimit) {
    const retryAfterSeconds = Math.max(1, Math.ceil((failure.throttleReset ?? 60_000) / 1_000));
    return new ConnectorError('rate_limited', 'the IMAP server asks to slow down', {
      retryAfterSeconds,
      cause: error,
    });
  }
  const known = knownLoginRefusal(failure.responseText ?? failure.response);
  if (known !== undefined) return refusedFor(known, error);
  if (failure.authenticationFailed === true)
    return loginRefused('IMAP', code || 'AUTHENTICATIONFAILED', oauth, error);
  if (failure.code !== undefined && CERTIFICATE.test(failure.code)) {
    return certificateError('IMAP', failure.code, error);
  }
  if (failure.responseStatus !== undefined) {
    const message = `the IMAP server refused ${refused}${reasonOf(failure.responseText)}`;
    return new ConnectorError('platform_error', message, {
      platformCode: code || failure.responseStatus,
      cause: error,
    });
  }
  // The library takes the kind of some things for granted; a server that sends another kind meets it here.
  if (error instanceof TypeError || error instanceof RangeError) {
    return new ConnectorError('platform_error', 'the IMAP server sent what cannot be read', {
      platformCode: 'ANSWER_UNREADABLE',
      cause: error,
    });
  }
  // A connection that never came about is told apart before (`connection.ts`).
  return new ConnectorError(
    'platform_unavailable',
    `the IMAP server does not answer (${failure.code ?? 'no code'})`,
    { cause: error, outcomeOpen: true },
  );
}

function refusedFor(known: { platformCode: string; message: string }, cause: unknown): ConnectorError {
  return new ConnectorError('platform_error', known.message, { platformCode: known.platformCode, cause });
}

/** A refused token may be renewed; a refused password only the customer can mend. */
function loginRefused(
  protocol: string,
  platformCode: string,
  oauth: boolean,
  cause: unknown,
): ConnectorError {
  return oauth
    ? new ConnectorError('token_expired', `the ${protocol} server refused the access token`, { cause })
    : new ConnectorError('platform_error', `the ${protocol} server refused the user name or password`, {
        platformCode,
        cause,
      });
}

interface SmtpFailure extends Error {
  code?: string;
  originalCode?: string;
  responseCode?: number;
  response?: string;
  command?: string;
}

export function fromSmtpError(error: unknown, { oauth }: { oauth: boolean }): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const failure = error as SmtpFailure;
  const status = failure.responseCode;
  if (failure.code === 'EAUTH' && (status === undefined || status >= 500)) {
    const known = knownLoginRefusal(failure.response);
    if (known !== undefined) return refusedFor(known, error);
    return loginRefused('SMTP', String(status ?? 'EAUTH'), oauth, error);
  }
  const certificateCode = [failure.originalCode, failure.code].find((code) => code && CERTIFICATE.test(code));
  if (certificateCode !== undefined) return certificateError('SMTP', certificateCode, error);
  if (failure.code === 'ETLS') {
    return new ConnectorError('platform_error', 'the SMTP server does not offer TLS', {
      platformCode: 'ETLS',
      cause: error,
    });
  }
  if (status !== undefined && status >= 500) {
    const message = `the SMTP server refused the message${reasonOf(failure.response)}`;
    return new ConnectorError('platform_error', message, { platformCode: String(status), cause: error });
  }
  if (status !== undefined) {
    return new ConnectorError(
      'platform_unavailable',
      `the SMTP server defers mail${reasonOf(failure.response)}`,
      {
        cause: error,
        // A server that puts a mail off leaves it to its sender (RFC 5321 4.2.1).
        nothingDone: status >= 400,
      },
    );
  }
  // Between the end of the message and the server's answer nobody knows whether it was taken.
  const mayBeTaken = failure.command === 'DATA';
  return new ConnectorError(
    'platform_unavailable',
    `the SMTP server does not answer (${failure.code ?? 'no code'})`,
    { cause: error, outcomeOpen: mayBeTaken, nothingDone: !mayBeTaken },
  );
}
