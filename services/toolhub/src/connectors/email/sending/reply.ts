import type { MessageAddressObject } from 'imapflow';
import { ConnectorError, doingNothing, type ToolContext } from '../../connector.ts';
import { formatMailbox, isAddress, oneLine, parseAddress, sameAddress } from '../addresses.ts';
import type { ConnectionShares } from '../connection-shares.ts';
import type { EmailCredential } from '../credential.ts';
import { openFolder } from '../imap/mailbox.ts';
import type { ImapPool } from '../imap/pool.ts';
import { MESSAGE_ID } from '../mime/header-fields.ts';
import { composeMail, messageIdsOf, RECIPIENTS_MAX, SUBJECT_LENGTH_MAX } from './compose.ts';
import { fetchOriginal, type Original } from './original.ts';
import { afterSending, fileCopy } from './sent-folder.ts';
import { type SentMail, sendMail } from './smtp.ts';

export interface ReplyArguments {
  folder: string;
  uid: number;
  text?: string;
  html?: string;
  reply_all?: boolean;
}

type EmailContext = ToolContext<EmailCredential>;

/** Threads grow without end; clients need the root and the nearest messages only (RFC 5322 3.6.4). */
const REFERENCES_MAX = 20;
const RECIPIENTS_UNKNOWN =
  'the header of the message is too long to read who got it; whoever sent it can be answered alone';

export async function replyToMessage(
  pool: ImapPool,
  args: ReplyArguments,
  { context, shares }: { context: EmailContext; shares: ConnectionShares },
): Promise<SentMail & { flagged: boolean; folder: string | null }> {
  const original = await doingNothing(pool.use(context, (client) => fetchOriginal(client, args)));
  const mail = composeMail({
    from: context.credential.from,
    ...recipientsOf(original, { own: context.credential.from, replyAll: args.reply_all ?? false }),
    subject: replySubject(original.envelope.subject ?? ''),
    ...(args.text === undefined ? {} : { text: args.text }),
    ...(args.html === undefined ? {} : { html: args.html }),
    ...threadOf(original),
    date: context.now(),
    newMessageId: messageIdsOf(context),
  });
  const sent = await sendMail(shares, context, mail);
  const afterwards = afterSending(context);
  const flagged = await markAnswered(pool, args, afterwards);
  return { ...sent, flagged, folder: await fileCopy(pool, mail, afterwards) };
}

/** The mail has left by now: that its original could not be marked must not look like a failure to send. */
async function markAnswered(
  pool: ImapPool,
  { folder, uid }: ReplyArguments,
  context: EmailContext,
): Promise<boolean> {
  try {
    return await pool.use(context, async (client) => {
      await openFolder(client, folder, { readOnly: false });
      return client.messageFlagsAdd(String(uid), ['\\Answered'], { uid: true });
    });
  } catch (error) {
    if (error instanceof ConnectorError || context.signal.aborted) return false;
    throw error;
  }
}

function mailboxesOf(list: readonly MessageAddressObject[] | undefined): string[] {
  return (list ?? []).slice(0, RECIPIENTS_MAX + 1).flatMap(({ name, address }) => {
    const whole = (address ?? '').trim();
    return isAddress(whole) ? [formatMailbox({ name: name ?? '', address: whole })] : [];
  });
}

function addressOf(entry: string): string {
  return parseAddress(entry)?.address ?? '';
}

/** The first entry of each mailbox, however often and in whatever spellings it stands there; none of those that are known. */
function eachOnce(entries: readonly string[], known: readonly string[]): string[] {
  const seen = [...known];
  return entries.filter((entry) => {
    const address = addressOf(entry);
    if (seen.some((other) => sameAddress(other, address))) return false;
    seen.push(address);
    return true;
  });
}

function recipientsOf(
  { envelope, hasRecipients }: Original,
  { own, replyAll }: { own: string; replyAll: boolean },
): { to: string[]; cc: string[] } {
  const ownAddress = addressOf(own);
  const isOwn = (entry: string) => sameAddress(addressOf(entry), ownAddress);
  const answerTo = mailboxesOf(envelope.replyTo);
  // An answer that is wanted at one's own address alone would come back to whoever writes it.
  const sender = answerTo.every(isOwn) ? mailboxesOf(envelope.from) : answerTo;
  if (sender.length === 0)
    throw new ConnectorError('invalid_arguments', 'the message has no sender to reply to');
  const isOwnMail = sender.every(isOwn);
  if (!hasRecipients && (replyAll || isOwnMail))
    throw new ConnectorError('invalid_arguments', RECIPIENTS_UNKNOWN);
  // Whoever answers a mail of their own goes on writing to those who got it, as in every mail program. One's own address
  // beside others is a place where one reads along, and what one writes oneself would come back there.
  const others = (isOwnMail ? mailboxesOf(envelope.to) : sender).filter((entry) => !isOwn(entry));
  const to = eachOnce(others.length > 0 ? others : sender, []);
  if (!replyAll) return { to, cc: [] };
  const known = [ownAddress, ...to.map(addressOf)];
  const cc = eachOnce([...mailboxesOf(envelope.to), ...mailboxesOf(envelope.cc)], known);
  if (to.length + cc.length > RECIPIENTS_MAX) {
    throw new ConnectorError(
      'invalid_arguments',
      `a reply to all would have more than ${RECIPIENTS_MAX} recipients`,
    );
  }
  return { to, cc };
}

export function replySubject(subject: string): string {
  const line = oneLine(subject).slice(0, SUBJECT_LENGTH_MAX);
  return /^re(\[\d+\])?:/i.test(line) ? line : `Re: ${line}`;
}

function threadOf({ envelope, fields }: Original): { inReplyTo?: string; references?: string[] } {
  const messageId = envelope.messageId?.match(MESSAGE_ID)?.[0];
  if (messageId === undefined) return {};
  const earlier =
    fields.get('references')?.match(MESSAGE_ID) ?? fields.get('in-reply-to')?.match(MESSAGE_ID) ?? [];
  const [root, ...rest] = [...earlier.filter((id) => id !== messageId), messageId];
  return { inReplyTo: messageId, references: [root ?? messageId, ...rest.slice(-REFERENCES_MAX)] };
}
