import type { FetchMessageObject, MessageAddressObject } from 'imapflow';
import { type Static, Type } from 'typebox';
import { isoOrNull } from '../../vendor-api/moment.ts';
import { formatMailbox, oneLine } from '../addresses.ts';
import type { LeafPart } from './mime-tree.ts';

export const FLAGS = ['seen', 'flagged', 'answered', 'draft', 'deleted'] as const;
export type Flag = (typeof FLAGS)[number];
export const flagSchema = Type.Enum(FLAGS, { type: 'string' });

const HEADER_TEXT_MAX = 2_000;
const PEOPLE_MAX = 200;

const person = Type.String({ description: 'As `Name <address>` or the address alone.' });
const people = Type.Array(person);

const headProperties = {
  uid: Type.Integer(),
  folder: Type.String(),
  message_id: Type.Union([Type.String(), Type.Null()]),
  from: Type.Union([person, Type.Null()]),
  to: people,
  cc: people,
  subject: Type.String(),
  date: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  flags: Type.Array(flagSchema),
};

export const messageSummarySchema = Type.Object(
  {
    ...headProperties,
    size: Type.Integer({ description: 'Bytes of the whole message.' }),
    has_attachments: Type.Boolean(),
  },
  { additionalProperties: false },
);

export const attachmentSchema = Type.Object(
  {
    part_id: Type.String(),
    filename: Type.Union([Type.String(), Type.Null()]),
    content_type: Type.String(),
    size: Type.Integer({
      description:
        'Bytes after decoding; until its end was read, an estimate for quoted-printable and base64.',
    }),
  },
  { additionalProperties: false },
);

export const messageSchema = Type.Object(
  {
    ...headProperties,
    text: Type.Union([Type.String(), Type.Null()]),
    html: Type.Union([Type.String(), Type.Null()]),
    attachments: Type.Array(attachmentSchema),
    truncated: Type.Boolean({
      description: 'Whether text, html or the list of attachments is longer than what is shown.',
    }),
  },
  { additionalProperties: false },
);

export type MessageSummary = Static<typeof messageSummarySchema>;
export type Message = Static<typeof messageSchema>;
export type Attachment = Static<typeof attachmentSchema>;

/** Only the five system flags are shown; keywords of mail programs mean nothing here. */
export function readFlags(flags: Iterable<string> | undefined): Flag[] {
  const set = new Set([...(flags ?? [])].map((flag) => flag.toLowerCase()));
  return FLAGS.filter((flag) => set.has(`\\${flag}`));
}

export function systemFlag(flag: Flag): string {
  return `\\${flag.charAt(0).toUpperCase()}${flag.slice(1)}`;
}

function readPeople(list: readonly MessageAddressObject[] | undefined): string[] {
  return (list ?? [])
    .slice(0, PEOPLE_MAX)
    .filter(({ address }) => address)
    .map(({ name, address }) => formatMailbox({ name: name ?? '', address: oneLine(address ?? '') }));
}

function readDate(...candidates: (Date | string | undefined)[]): string | null {
  for (const candidate of candidates) {
    const iso = isoOrNull(new Date(candidate ?? Number.NaN).getTime());
    if (iso !== null) return iso;
  }
  return null;
}

export type MessageHead = Pick<
  Message,
  'uid' | 'folder' | 'message_id' | 'from' | 'to' | 'cc' | 'subject' | 'date' | 'flags'
>;

export function readHead(fetched: FetchMessageObject, folder: string): MessageHead {
  const { envelope } = fetched;
  return {
    uid: fetched.uid,
    folder,
    message_id: envelope?.messageId ? oneLine(envelope.messageId).slice(0, HEADER_TEXT_MAX) : null,
    from: readPeople(envelope?.from)[0] ?? null,
    to: readPeople(envelope?.to),
    cc: readPeople(envelope?.cc),
    // A cut may part the two halves of a character.
    subject: oneLine(envelope?.subject ?? '')
      .slice(0, HEADER_TEXT_MAX)
      .toWellFormed(),
    date: readDate(envelope?.date, fetched.internalDate),
    flags: readFlags(fetched.flags),
  };
}

const BASE64_LINE = 76;

/**
 * Bytes of a part after decoding, as far as can be told without reading it. For base64 the lines are taken to have the usual
 * length, and `ending` (the last characters of the part) tells the padding: the number is exact where they have.
 */
export function decodedBytes({ encoding, encodedBytes }: LeafPart, ending: string): number {
  if (encoding !== 'base64') return encodedBytes;
  const trailing = /[\r\n]*$/.exec(ending)?.[0].length ?? 0;
  const padding = /(=*)[\r\n]*$/.exec(ending)?.[1]?.length ?? 0;
  const withBreaks = encodedBytes - trailing;
  const breaks = Math.max(0, Math.ceil(withBreaks / (BASE64_LINE + 2)) - 1);
  return Math.max(0, Math.floor(((withBreaks - 2 * breaks) * 3) / 4) - padding);
}
