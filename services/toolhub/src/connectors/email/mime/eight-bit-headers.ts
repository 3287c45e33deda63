import type { FetchMessageObject, ImapFlow, MessageAddressObject } from 'imapflow';
import parseAddressList from 'nodemailer/lib/addressparser';
import { oneLine } from '../addresses.ts';
import { fetchMessages } from '../imap/answers.ts';
import { unfold } from './header-fields.ts';

/** What the library puts in the place of bytes that are not UTF-8. */
const LOST = '\ufffd';
const HEADERS_READ_MAX = 8 * 1024;
const PEOPLE_READ_MAX = 1_000;
const ADDRESS_FIELDS = { from: 'from', to: 'to', cc: 'cc', replyTo: 'reply-to' } as const;

/**
 * Old programs write letters into headers as they are, in their own charset. Where the library could not read them the
 * header is read once more, as Windows' Latin, which takes every byte.
 */
export async function mendHeaders(client: ImapFlow, messages: readonly FetchMessageObject[]): Promise<void> {
  const broken = messages.filter(({ envelope }) => JSON.stringify(envelope ?? null).includes(LOST));
  if (broken.length === 0) return;
  const headers = ['subject', ...Object.values(ADDRESS_FIELDS)];
  const uids = broken.map(({ uid }) => uid);
  const fetched = await fetchMessages(client, uids, { uid: true, headers });
  const blocks = new Map(fetched.map((message) => [message.uid, message.headers]));
  for (const message of broken) mendEnvelope(message, blocks.get(message.uid));
}

function mendEnvelope({ envelope }: FetchMessageObject, block: Buffer | undefined): void {
  if (envelope === undefined || block === undefined) return;
  const text = new TextDecoder('windows-1252').decode(block.subarray(0, HEADERS_READ_MAX));
  const fields = unfold(text);
  const subject = fields.get('subject');
  if (subject !== undefined && isMendable(envelope.subject, subject)) envelope.subject = subject;
  for (const [list, field] of Object.entries(ADDRESS_FIELDS))
    mendNames(envelope[list as keyof typeof ADDRESS_FIELDS] ?? [], fields.get(field) ?? '');
}

/** What is encoded as the standard wants it was read rightly, and would be shown as code. */
function isMendable(shown: string | undefined, raw: string): boolean {
  return shown?.includes(LOST) === true && !raw.includes('=?');
}

function mendNames(list: MessageAddressObject[], raw: string): void {
  if (!list.some(({ name }) => isMendable(name, raw))) return;
  const names = new Map(
    parseAddressList(raw.slice(0, PEOPLE_READ_MAX), { flatten: true }).map(({ name, address }) => [
      address?.toLowerCase(),
      name,
    ]),
  );
  for (const person of list) {
    const name = person.name?.includes(LOST) ? names.get((person.address ?? '').toLowerCase()) : undefined;
    if (name !== undefined) person.name = oneLine(name);
  }
}
