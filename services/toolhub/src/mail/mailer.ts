import { createFolderTransport } from './folder.ts';
import type { Mailer, MailerOptions } from './mail.ts';
import { createSmtpTransport } from './smtp.ts';

export function createMailer(options: MailerOptions): Mailer {
  return options.smtpUrl === undefined
    ? createFolderTransport(options)
    : createSmtpTransport({ ...options, smtpUrl: options.smtpUrl });
}
