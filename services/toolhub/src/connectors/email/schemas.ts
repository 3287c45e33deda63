import { type TProperties, Type } from 'typebox';
import { ATTACHMENT_ASKED_BYTES_MAX, FOLDER_LENGTH_MAX } from './limits.ts';
import { attachmentSchema, flagSchema } from './mime/message.ts';
import {
  ATTACHMENT_BYTES_TOTAL_MAX,
  ATTACHMENTS_MAX,
  BODY_LENGTH_MAX,
  RECIPIENTS_MAX,
  SUBJECT_LENGTH_MAX,
} from './sending/compose.ts';

export const UIDS_MAX = 500;
const UID_MAX = 2 ** 32 - 1;
const SEARCH_TEXT_MAX = 500;
const FOLDER_NAME_LENGTH_MAX = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would start another command or header.
const ONE_LINE = /^[^\u0000-\u001f\u007f]*$/.source;

export const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

export const folder = Type.String({
  minLength: 1,
  maxLength: FOLDER_LENGTH_MAX,
  pattern: ONE_LINE,
  description: 'Path of the folder, as email_list_folders gives it, such as INBOX.',
});
export const uid = Type.Integer({
  minimum: 1,
  maximum: UID_MAX,
  description: 'Number of the message in its folder.',
});
export const uids = Type.Array(uid, { minItems: 1, maxItems: UIDS_MAX, uniqueItems: true });
export const flags = Type.Array(flagSchema, { maxItems: 5, uniqueItems: true });

const searchText = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: SEARCH_TEXT_MAX, pattern: ONE_LINE, description }));
const day = (description: string) =>
  Type.Optional(
    Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(T[0-9:.]{5,12}(Z|[+-]\\d{2}:\\d{2}))?$', description }),
  );

export const searchInput = closed({
  folder: Type.Optional(folder),
  query: searchText('Text anywhere in the message.'),
  from: searchText('Text in the sender.'),
  to: searchText('Text in the recipients.'),
  subject: searchText('Text in the subject.'),
  since: day('Messages that arrived on this UTC day or later.'),
  before: day('Messages that arrived before this UTC day.'),
  unseen: Type.Optional(Type.Boolean({ description: 'Only unread (true) or only read (false) messages.' })),
  has_attachment: Type.Optional(Type.Boolean()),
});

const recipients = (description: string) =>
  Type.Array(Type.String({ minLength: 3, maxLength: 512, pattern: ONE_LINE }), {
    maxItems: RECIPIENTS_MAX,
    description,
  });

const body = {
  text: Type.Optional(
    Type.String({ maxLength: BODY_LENGTH_MAX, description: 'Plain text. Text or html is needed.' }),
  ),
  html: Type.Optional(Type.String({ maxLength: BODY_LENGTH_MAX })),
};

const BASE64_LENGTH_MAX = Math.ceil(ATTACHMENT_BYTES_TOTAL_MAX / 3) * 4;

export const sendInput = closed({
  to: recipients('Each `a@example.com` or `Name <a@example.com>`.'),
  cc: Type.Optional(recipients('Copies.')),
  bcc: Type.Optional(recipients('Blind copies.')),
  subject: Type.String({ maxLength: SUBJECT_LENGTH_MAX, pattern: ONE_LINE }),
  ...body,
  attachments: Type.Optional(
    Type.Array(
      closed({
        filename: Type.String({ minLength: 1, maxLength: 255 }),
        content_type: Type.String({ minLength: 3, maxLength: 255 }),
        // Who is to allow a call is shown how long this is, and all of everything else.
        content_base64: Type.String({ maxLength: BASE64_LENGTH_MAX, contentEncoding: 'base64' }),
      }),
      { maxItems: ATTACHMENTS_MAX },
    ),
  ),
});

const draftRecipients = (description: string) => Type.Optional(recipients(description));

export const draftInput = closed({
  to: draftRecipients('Each `a@example.com` or `Name <a@example.com>`; may be left open.'),
  cc: draftRecipients('Copies.'),
  bcc: draftRecipients('Blind copies.'),
  subject: Type.Optional(sendInput.properties.subject),
  ...body,
  attachments: sendInput.properties.attachments,
});

export const draftOutput = closed({
  folder: Type.String({ description: 'The folder for drafts.' }),
  uid: Type.Union([Type.Integer(), Type.Null()], { description: 'Null where the server does not tell.' }),
  message_id: Type.String(),
});

export const threadsInput = closed({
  folder: Type.Optional(folder),
  query: searchInput.properties.query,
  from: searchInput.properties.from,
  to: searchInput.properties.to,
  subject: searchInput.properties.subject,
  since: searchInput.properties.since,
  before: searchInput.properties.before,
  unseen: searchInput.properties.unseen,
});

export const threadSchema = closed({
  thread_id: Type.String({
    description: 'The server’s own number of the thread, else the Message-ID it began with.',
  }),
  subject: Type.String(),
  participants: Type.Array(Type.String()),
  last_date: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  unseen: Type.Integer({ description: 'How many of the messages shown are unread.' }),
  messages: Type.Array(
    closed({
      uid: Type.Integer(),
      message_id: Type.Union([Type.String(), Type.Null()]),
      from: Type.Union([Type.String(), Type.Null()]),
      date: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
      flags: Type.Array(flagSchema),
    }),
    { description: 'Newest first. Older messages of the thread may come with a later page.' },
  ),
});

export const deleteOutput = closed({
  folder: Type.String(),
  trash_folder: Type.String(),
  deleted: Type.Array(
    closed({
      uid: Type.Integer(),
      new_uid: Type.Union([Type.Integer(), Type.Null()], {
        description: 'The number in the trash; null where the server does not tell.',
      }),
    }),
  ),
  missing: Type.Array(Type.Integer(), { description: 'Numbers that the folder does not have.' }),
});

export const createFolderInput = closed({
  name: Type.String({
    minLength: 1,
    maxLength: FOLDER_NAME_LENGTH_MAX,
    pattern: ONE_LINE,
    description: 'Name of the new folder, without a path.',
  }),
  parent_folder: Type.Optional(folder),
});

export const createFolderOutput = closed({
  path: Type.String(),
  created: Type.Boolean({ description: 'False where the folder was there already.' }),
});

export const replyInput = closed({
  folder,
  uid,
  ...body,
  reply_all: Type.Optional(Type.Boolean({ description: 'Also to everybody else who got the message.' })),
});

const accepted = Type.Array(Type.String(), { description: 'Recipients that the mail server took.' });
const rejected = Type.Array(Type.String(), { description: 'Recipients that it refused.' });

const sentFolder = Type.Union([Type.String(), Type.Null()], {
  description:
    'The folder that holds a copy; null where the mail server keeps its own, or none could be kept.',
});
export const sendOutput = closed({
  message_id: Type.String(),
  accepted,
  rejected,
  sent_folder: sentFolder,
});
export const replyOutput = closed({
  message_id: Type.String(),
  accepted,
  rejected,
  sent_folder: sentFolder,
  marked_answered: Type.Boolean({ description: 'Whether the original now carries the flag answered.' }),
});

export const folderSchema = closed({
  path: Type.String(),
  name: Type.String(),
  delimiter: Type.Union([Type.String(), Type.Null()]),
  special_use: Type.Union([Type.String(), Type.Null()], {
    description: 'Such as sent, drafts, trash, junk, archive.',
  }),
  selectable: Type.Boolean(),
  messages: Type.Union([Type.Integer(), Type.Null()]),
  unseen: Type.Union([Type.Integer(), Type.Null()]),
});

export const attachmentInput = closed({
  folder,
  uid,
  part_id: Type.String({
    pattern: '^[1-9]\\d{0,3}(\\.[1-9]\\d{0,3}){0,20}$',
    description: 'From email_get_message.',
  }),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, description: '`next_offset` of the page before; 0 at first.' }),
  ),
  max_bytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ATTACHMENT_ASKED_BYTES_MAX,
      description: 'Size of a page after decoding; more than 1 MiB is given as 1 MiB.',
    }),
  ),
});

export const attachmentOutput = closed({
  ...attachmentSchema.properties,
  offset: Type.Integer(),
  content_base64: Type.String(),
  next_offset: Type.Union([Type.Integer(), Type.Null()], { description: 'Null when this is the last page.' }),
});

const missing = Type.Array(Type.Integer(), { description: 'Numbers that the folder does not have.' });

export const updateFlagsOutput = closed({
  folder: Type.String(),
  messages: Type.Array(closed({ uid: Type.Integer(), flags: Type.Array(flagSchema) })),
  missing,
});

export const moveOutput = closed({
  folder: Type.String(),
  target_folder: Type.String(),
  moved: Type.Array(
    closed({
      uid: Type.Integer(),
      new_uid: Type.Union([Type.Integer(), Type.Null()], {
        description: 'Null where the server does not tell.',
      }),
    }),
  ),
  missing,
});
