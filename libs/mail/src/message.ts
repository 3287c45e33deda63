import type { SendMailOptions } from 'nodemailer';
import type { Mail, MailerDependencies } from './mail.ts';

/** What nodemailer is given. Names and subjects are encoded by it, so that nothing in them can become a header. */
export function toMessage(
  mail: Mail,
  options: Pick<MailerDependencies, 'from' | 'host' | 'now'>,
): SendMailOptions {
  return {
    messageId: `<${mail.id}@${options.host}>`,
    date: options.now(),
    from: options.from,
    to: { name: '', address: mail.to },
    subject: mail.subject,
    text: mail.text,
    // RFC 3834: nobody on holiday needs to answer a machine.
    headers: { 'Auto-Submitted': 'auto-generated' },
    attachments: (mail.attachments ?? []).map((attachment) => ({
      filename: attachment.filename,
      contentType: attachment.contentType,
      content: attachment.content,
    })),
    // Attachments are bytes only: nothing is ever read from a path or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
