import { createFolderTransport } from './folder.ts';
import type { Mailer, MailerDependencies } from './mail.ts';
import { createSmtpTransport } from './smtp.ts';

export function createMailer(options: MailerDependencies): Mailer {
  return options.smtpUrl === undefined
    ? createFolderTransport(options)
    : createSmtpTransport({ ...options, smtpUrl: options.smtpUrl });
}
