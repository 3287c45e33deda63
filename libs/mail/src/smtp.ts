import { createTransport } from 'nodemailer';
import { MailError, type Mailer, type MailerDependencies } from './mail.ts';
import { toMessage } from './message.ts';

const CONNECTIONS_MAX = 4;
const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 30_000;
/** All of one mail, whatever the server does. */
const SEND_TIMEOUT_MS = 120_000;

/** Codes of nodemailer that speak of one mail and not of the server. */
const REFUSED_CODES: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE', 'ESTREAM']);

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
        const kind = REFUSED_CODES.has((error as { code?: unknown }).code) ? 'refused' : 'unreachable';
        throw new MailError(kind, (error as Error).message, { cause: error });
      }
    },
    async close() {
      transport.close();
    },
  };
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
