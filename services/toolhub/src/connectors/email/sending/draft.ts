import type { SendMailOptions } from 'nodemailer';
import type { ToolContext } from '../../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { expectDone, findSpecialFolder, openFolder } from '../imap/mailbox.ts';
import type { ImapPool } from '../imap/pool.ts';
import { missingFolder } from '../organise.ts';
import { bytesOf, findByMessageId } from './sent-folder.ts';

export interface DraftOutcome {
  folder: string;
  uid: number | null;
  message_id: string;
}

/** Puts a mail into the folder for drafts, where a person looks it over and sends it. Nothing leaves. */
export function createDraft(
  pool: ImapPool,
  mail: SendMailOptions,
  context: ToolContext<EmailCredential>,
): Promise<DraftOutcome> {
  const messageId = String(mail.messageId);
  return pool.use(context, async (client) => {
    const folder = await findSpecialFolder(client, 'Drafts', { byName: true });
    if (folder === null) throw missingFolder('drafts');
    // Not read-only: in a folder that is, the library takes no flag for one that may be set.
    await openFolder(client, folder, { readOnly: false });
    // This work is done again when a rested connection was lost under it: one draft is enough.
    const known = await findByMessageId(client, messageId);
    if (known !== null) return { folder, uid: known, message_id: messageId };
    const bytes = await bytesOf(mail);
    const appended = expectDone(
      client,
      await client.append(folder, bytes, ['\\Draft', '\\Seen'], mail.date),
      'keep the draft',
    );
    return { folder, uid: appended.uid ?? null, message_id: messageId };
  });
}
