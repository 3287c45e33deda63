import { newToken } from '@libs/seal';
import type { SendMailOptions } from 'nodemailer';
import { ConnectorError, type ToolContext } from '../../connector.ts';
import { domainOf, hasControlCharacters, type Mailbox, parseAddress } from '../addresses.ts';
import { safeFilename } from '../mime/mime-tree.ts';

export const RECIPIENTS_MAX = 100;
export const SUBJECT_LENGTH_MAX = 500;
export const BODY_LENGTH_MAX = 1_000_000;
export const ATTACHMENTS_MAX = 20;
/** In base64 this and the rest of a call stay below what the endpoint takes. */
export const ATTACHMENT_BYTES_TOTAL_MAX = 10 * 1024 * 1024;

export interface OutgoingAttachment {
  filename: string;
  content_type: string;
  content_base64: string;
}

export interface OutgoingMail {
  from: string;
  to: readonly string[];
  cc?: readonly string[];
  bcc?: readonly string[];
  subject: string;
  text?: string;
  html?: string;
  attachments?: readonly OutgoingAttachment[];
  inReplyTo?: string;
  references?: readonly string[];
  date: Date;
  newMessageId: (domain: string) => string;
  /** What is not sent yet may lack what sending needs. */
  isDraft?: true;
}

/** Ids of messages that this service makes, as no other has them. */
export const messageIdsOf =
  ({ randomBytes }: Pick<ToolContext, 'randomBytes'>): OutgoingMail['newMessageId'] =>
  (domain) =>
    `<${newToken('', randomBytes)}@${domain}>`;

function refuse(message: string): never {
  throw new ConnectorError('invalid_arguments', message);
}

/** Everything is checked before a connection is opened: a mail that is not in order leaves no trace anywhere. */
export function composeMail(mail: OutgoingMail): SendMailOptions {
  const from = parseAddress(mail.from) ?? refuse('the sender of this account is not an e-mail address');
  const to = parseRecipients(mail.to, 'to');
  const cc = parseRecipients(mail.cc ?? [], 'cc');
  const bcc = parseRecipients(mail.bcc ?? [], 'bcc');
  const count = to.length + cc.length + bcc.length;
  if (count === 0 && !mail.isDraft) refuse('a message needs at least one recipient');
  if (count > RECIPIENTS_MAX) refuse(`more than ${RECIPIENTS_MAX} recipients`);
  if (hasControlCharacters(mail.subject)) refuse('the subject must be one line');
  if (mail.text === undefined && mail.html === undefined && !mail.isDraft)
    refuse('a message needs text or html');
  return {
    from,
    to,
    cc,
    bcc,
    subject: mail.subject,
    ...(mail.text === undefined ? {} : { text: mail.text }),
    ...(mail.html === undefined ? {} : { html: mail.html }),
    attachments: readAttachments(mail.attachments ?? []),
    ...(mail.inReplyTo === undefined ? {} : { inReplyTo: mail.inReplyTo }),
    ...(mail.references === undefined ? {} : { references: [...mail.references] }),
    messageId: mail.newMessageId(domainOf(from.address)),
    date: mail.date,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function parseRecipients(entries: readonly string[], field: string): Mailbox[] {
  return entries.map(
    (entry, index) => parseAddress(entry) ?? refuse(`${field}[${index}] is not one e-mail address`),
  );
}

const CONTENT_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function readAttachments(attachments: readonly OutgoingAttachment[]) {
  if (attachments.length > ATTACHMENTS_MAX) refuse(`more than ${ATTACHMENTS_MAX} attachments`);
  let bytesTotal = 0;
  return attachments.map(({ filename, content_type, content_base64 }, index) => {
    const where = `attachments[${index}]`;
    if (safeFilename(filename) !== filename) refuse(`${where}.filename is not a plain file name`);
    if (!CONTENT_TYPE.test(content_type)) refuse(`${where}.content_type is not type/subtype`);
    // Multipart and message types would be parsed as structure of the mail instead of as a file.
    if (/^(multipart|message)\//i.test(content_type)) refuse(`${where}.content_type cannot be attached`);
    if (content_base64.length % 4 !== 0 || !BASE64.test(content_base64))
      refuse(`${where}.content_base64 is not base64`);
    bytesTotal += Buffer.byteLength(content_base64, 'base64');
    if (bytesTotal > ATTACHMENT_BYTES_TOTAL_MAX)
      refuse(`attachments hold more than ${ATTACHMENT_BYTES_TOTAL_MAX} bytes`);
    return {
      filename,
      contentType: content_type,
      content: Buffer.from(content_base64, 'base64'),
      contentDisposition: 'attachment' as const,
    };
  });
}
