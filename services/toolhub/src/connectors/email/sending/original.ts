import type { FetchMessageObject, ImapFlow, MessageEnvelopeObject } from 'imapflow';
import parseAddressList from 'nodemailer/lib/addressparser';
import { fetchMessage } from '../imap/answers.ts';
import { tooLarge } from '../imap/guard.ts';
import { noSuchMessage, openFolder, wasSkipped } from '../imap/mailbox.ts';
import { mendHeaders } from '../mime/eight-bit-headers.ts';
import { unfold } from '../mime/header-fields.ts';

/** The message that is answered. */
export interface Original {
  envelope: MessageEnvelopeObject;
  /** Header fields by lower-case name. */
  fields: ReadonlyMap<string, string>;
  /** False where the header is so long that only its sender was read. */
  hasRecipients: boolean;
}

const HEADERS_READ_MAX = 64 * 1024;
const PEOPLE_READ_MAX = 1_000;
const THREAD_FIELDS = ['references', 'in-reply-to'];
const SENDER_FIELDS = ['from', 'reply-to', 'subject', 'message-id'];

/** A message to thousands of people has an envelope beyond all limits; whoever sent it can be answered without it. */
export async function fetchOriginal(
  client: ImapFlow,
  { folder, uid }: { folder: string; uid: number },
): Promise<Original> {
  await openFolder(client, folder, { readOnly: true });
  const query = { uid: true, envelope: true, headers: THREAD_FIELDS };
  const fetched = await fetchMessage(client, uid, query);
  if (fetched?.envelope !== undefined) {
    await mendHeaders(client, [fetched]);
    return { envelope: fetched.envelope, fields: fieldsOf(fetched, 'latin1'), hasRecipients: true };
  }
  if (fetched === undefined && !wasSkipped(client, 'FETCH')) throw noSuchMessage(folder, uid);
  return fetchSender(client, { folder, uid });
}

async function fetchSender(
  client: ImapFlow,
  { folder, uid }: { folder: string; uid: number },
): Promise<Original> {
  const query = { uid: true, headers: [...SENDER_FIELDS, ...THREAD_FIELDS] };
  const fetched = await fetchMessage(client, uid, query);
  if (fetched === undefined)
    throw wasSkipped(client, 'FETCH')
      ? tooLarge('a header that is too long to be read')
      : noSuchMessage(folder, uid);
  const fields = fieldsOf(fetched, 'utf8');
  const envelope = {
    from: peopleIn(fields.get('from')),
    replyTo: peopleIn(fields.get('reply-to')),
    // Encoded words may stay as they are: what goes out is decoded by whoever reads it.
    subject: fields.get('subject') ?? '',
    messageId: fields.get('message-id') ?? '',
  };
  return { envelope, fields, hasRecipients: false };
}

function fieldsOf({ headers }: FetchMessageObject, encoding: BufferEncoding): Map<string, string> {
  return unfold(headers?.toString(encoding, 0, HEADERS_READ_MAX) ?? '');
}

/** Of a field that is too long those that are whole in it: what is left of an address may be another one. */
function wholePeople(raw: string): string {
  return raw.length <= PEOPLE_READ_MAX ? raw : raw.slice(0, raw.lastIndexOf(',', PEOPLE_READ_MAX) + 1);
}

/** Of an address without brackets behind other words nobody knows where it begins: `john doe@…` is not that of `doe`. */
function peopleIn(raw = ''): { name: string; address: string }[] {
  const people = wholePeople(raw);
  return parseAddressList(people, { flatten: true })
    .map(({ name, address = '' }) => ({ name, address }))
    .filter(({ name, address }) => name === '' || people.includes(`<${address}>`))
    .map(({ name, address }) => ({
      // A name that is encoded would be shown as code, and the address alone reaches the same person.
      name: name.includes('=?') ? '' : name,
      address,
    }));
}
