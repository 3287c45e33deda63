import type { ImapFlow } from 'imapflow';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { ConnectorError, type ToolContext } from '../../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { findSpecialFolder, openFolder, searchUids } from '../imap/mailbox.ts';
import type { ImapPool } from '../imap/pool.ts';

type EmailContext = ToolContext<EmailCredential>;

/** What comes after the sending may not hold up the news that the mail has left. */
const AFTERWARDS_MS_MAX = 10_000;
/** Exchange Online keeps what it is given to send, and says so nowhere in IMAP. */
const HOSTS_THAT_FILE: ReadonlySet<string> = new Set(['outlook.office365.com', 'imap-mail.outlook.com']);

/** The same context with little time left: for what is done once the mail has left. */
export function afterSending(context: EmailContext): EmailContext {
  return { ...context, signal: AbortSignal.any([context.signal, AbortSignal.timeout(AFTERWARDS_MS_MAX)]) };
}

/**
 * Puts a copy of a mail that has left into the mailbox's folder for sent mail, and answers which folder that is: null
 * where there is none, where the server files by itself, and where it could not be done. The mail has left by then, so
 * nothing that goes wrong here may look like a failure to send.
 */
export async function fileCopy(
  pool: ImapPool,
  mail: SendMailOptions,
  context: EmailContext,
): Promise<string | null> {
  if (HOSTS_THAT_FILE.has(context.credential.imap.host.toLowerCase())) return null;
  try {
    return await pool.use(context, async (client) => {
      const folder = await sentFolderOf(client);
      if (folder === null) return null;
      // A server may have filed it already, and this work is done again when a rested connection was lost under it.
      const isThere = await holdsMessage(client, folder, String(mail.messageId));
      if (isThere) return folder;
      const appended = await client.append(folder, await bytesOf(mail), ['\\Seen'], mail.date);
      return appended ? folder : null;
    });
  } catch (error) {
    if (error instanceof ConnectorError || context.signal.aborted) return null;
    throw error;
  }
}

/** Only a folder that the server itself names for it (RFC 6154); a name that sounds right may mean something else. */
async function sentFolderOf(client: ImapFlow): Promise<string | null> {
  // Gmail files by itself, under whatever name the server is reached.
  if (client.capabilities.has('X-GM-EXT-1')) return null;
  return findSpecialFolder(client, 'Sent', { byName: false });
}

async function holdsMessage(client: ImapFlow, folder: string, messageId: string): Promise<boolean> {
  // Not read-only: in a folder that is, the library takes no flag for one that may be set.
  await openFolder(client, folder, { readOnly: false });
  return (await findByMessageId(client, messageId)) !== null;
}

/** The number of the message in the open folder, or null. */
export async function findByMessageId(client: ImapFlow, messageId: string): Promise<number | null> {
  const found = await searchUids(client, { header: { 'message-id': messageId } });
  return found.at(-1) ?? null;
}

/** As it was sent, but with those who got it unseen by the others: the sender wants to know. */
export async function bytesOf(mail: SendMailOptions): Promise<Buffer> {
  const writer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { message } = await writer.sendMail(mail);
  return message as Buffer;
}
