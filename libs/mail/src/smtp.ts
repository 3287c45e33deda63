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
  // The library says of every cut and every silence that the connection failed, whatever had been sent by then.
  transport.use('stream', ({ message, data }, done) => {
    const { onGiven } = data as Partial<Handover>;
    message.processFunc((content) => content.once('end', () => onGiven?.()));
    done();
  });
  return {
    async send(mail) {
      let isGiven = false;
      const handover: Handover = {
        onGiven() {
          isGiven = true;
        },
      };
      const message = { ...toMessage(mail, options), ...handover };
      try {
        await within(SEND_TIMEOUT_MS, transport.sendMail(message));
      } catch (error) {
        // One whose time is over while it waits for a connection leaves later.
        const isLate = error instanceof MailError;
        const kind = isLate ? error.kind : kindOf(error as SmtpError);
        const mayHaveLeft = isLate || (isGiven && kind === 'unreachable');
        throw new MailError(kind, (error as Error).message, { cause: error, mayHaveLeft });
      }
    },
    async close() {
      transport.close();
    },
  };
}

/** Travels with a mail through the library, which hands on what it does not know. */
interface Handover {
  /** The server was given all of it. */
  onGiven(): void;
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
