import { createTransport } from 'nodemailer';
import { MailError, type MailErrorKind, type Mailer, type MailerDependencies } from './mail.ts';
import { toMessage } from './message.ts';

const CONNECTIONS_MAX = 4;
const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 30_000;
/** All of one mail, whatever the server does. */
const SEND_TIMEOUT_MS = 120_000;

/** Codes of nodemailer that speak of one mail and not of the server. */
const REFUSED_CODES: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE', 'ESTREAM']);

/** Answers to the name of a recipient by which it will not be known tomorrow either; others ask to be tried again, or do not say. */
const NO_RECIPIENT_CODES: ReadonlySet<unknown> = new Set([550, 551, 553, 556]);
/** What a server refuses by its rules, as to pass mail on, speaks of us: that is mended, and the mail then leaves. */
const BY_RULE = /^\d{3}[ -]5\.7\.\d/;

export function createSmtpTransport(options: MailerDependencies & { smtpUrl: string }): Mailer {
  const transport = createTransport({
    pool: true,
    url: options.smtpUrl,
    maxConnections: CONNECTIONS_MAX,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: ANSWER_TIMEOUT_MS,
  });
  return {
    async send(mail) {
      try {
        await within(SEND_TIMEOUT_MS, transport.sendMail(toMessage(mail, options)));
      } catch (error) {
        if (error instanceof MailError) throw error;
        throw new MailError(kindOf(error as SmtpError), (error as Error).message, { cause: error });
      }
    },
    async close() {
      transport.close();
    },
  };
}

/** As nodemailer throws it. */
interface SmtpError {
  code?: unknown;
  command?: unknown;
  responseCode?: unknown;
  response?: unknown;
}

function kindOf({ code, command, responseCode, response }: SmtpError): MailErrorKind {
  if (!REFUSED_CODES.has(code)) return 'unreachable';
  const isUnknown = command === 'RCPT TO' && NO_RECIPIENT_CODES.has(responseCode);
  return isUnknown && !BY_RULE.test(String(response)) ? 'recipient_refused' : 'refused';
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new MailError('unreachable', 'the mail server took too long')),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
