export { type Mail, type MailAttachment, MailError, type MailErrorKind, type Mailer } from './mail.ts';
export { createMailer } from './mailer.ts';
export { createNoticeMailer } from './notice-mailer.ts';
