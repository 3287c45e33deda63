// What hostile servers, and strangers by mail, have been seen or imagined to send.
import {
  fetchAnswer,
  flood,
  HTML_STRUCTURE,
  type ImapReply,
  type ImapScript,
  PLAIN_STRUCTURE,
  partAnswer,
} from './hostile-imap-server.ts';
import type { SmtpScript } from './hostile-smtp-server.ts';

export interface ImapAttack {
  name: string;
  script: ImapScript;
  tool: string;
  args: Record<string, unknown>;
  /** Either the call fails with a code that names the platform, or the answer is still of use. */
  ends: 'error' | 'answer';
  /** Slow by nature: the server says nothing, and the call ends by a time-out. */
  isSlow?: true;
}

const ENDLESS_BYTES = 256 * 1024 * 1024;
const MIB = 1024 * 1024;

const withTail =
  (text: string): ImapReply =>
  async ({ write, ok }) => {
    await write(`${text}\r\n`);
    await ok();
  };
const endless =
  (piece: (turn: number) => string): ImapReply =>
  ({ socket }) =>
    flood(socket, piece, ENDLESS_BYTES);

const list = (name: string, reply: ImapReply, ends: ImapAttack['ends'] = 'error'): ImapAttack => ({
  name,
  script: { LIST: reply },
  tool: 'email_list_folders',
  args: {},
  ends,
});
const fetched = (name: string, reply: ImapReply, ends: ImapAttack['ends'] = 'error'): ImapAttack => ({
  name,
  script: { 'UID FETCH': reply },
  tool: 'email_search_messages',
  args: {},
  ends,
});

/** Answers the fetch of all three messages, the second of them in this way. */
const oneBadMessage =
  (overrides: { envelope?: string; structure?: string }): ImapReply =>
  async ({ line, write, ok }) => {
    const asked = (/UID FETCH (\S+)/i.exec(line)?.[1] ?? '').split(/[:,]/).map(Number);
    const low = Math.min(...asked);
    const high = Math.max(...asked);
    for (const uid of [1, 2, 3].filter((one) => one >= low && one <= high)) {
      if (/ENVELOPE/.test(line)) await write(fetchAnswer(uid, uid === 2 ? overrides : {}));
      else
        await write(
          `* ${uid} FETCH (UID ${uid} FLAGS (\\Seen) RFC822.SIZE 1 INTERNALDATE "02-Nov-2026 10:00:00 +0000")\r\n`,
        );
    }
    await ok();
  };

/** A message whose one body is this. */
export function mailOf(name: string, body: string | Buffer, structure = HTML_STRUCTURE): ImapAttack {
  const bytes = Buffer.from(body as string);
  return {
    name,
    script: {
      'UID FETCH': async ({ line, write, ok }) => {
        await write(/BODY\.PEEK/.test(line) ? partAnswer(line, 1, bytes) : fetchAnswer(1, { structure }));
        await ok();
      },
    },
    tool: 'email_get_message',
    args: { folder: 'INBOX', uid: 1 },
    ends: 'answer',
  };
}

/** 480 times é in the encoding of folder names: to compare such by the rules of a language is dear. */
const LONG_NAME = `&${'AOkA6QDp'.repeat(160)}-`;

/** As many folders as are taken, in no order. */
const manyFolders =
  (flag: string, name: string, count = 9_900): ImapReply =>
  async ({ write, ok }) => {
    const lines = Array.from(
      { length: count },
      (_, turn) => `* LIST (${flag}) "/" "${name}${(turn * 7_919) % 9_901}"\r\n`,
    );
    await write(lines.join(''));
    await ok();
  };
const people = (count: number) => `(${'("N" NIL "someone" "example.test")'.repeat(count)})`;
const envelopeTo = (to: string, subject = '"s"') =>
  `("Mon, 02 Nov 2026 10:00:00 +0000" ${subject} NIL NIL NIL ${to} NIL NIL NIL "<2@evil.test>")`;
const nested = (depth: number) => `${'('.repeat(depth)}${PLAIN_STRUCTURE}${' "MIXED")'.repeat(depth)}`;

export const IMAP_ATTACKS: readonly ImapAttack[] = [
  list('a line of 200 KB of brackets', withTail(`* LIST () "/" ${'['.repeat(200_000)}`)),
  list('a line of 1 MB of brackets', withTail(`* LIST () "/" ${'['.repeat(MIB)}`)),
  list('a line of brackets just below the limit', withTail(`* LIST () "/" ${'['.repeat(65_000)}`)),
  list(
    'folders without end',
    endless((turn) => `* LIST () "/" "folder ${turn}"\r\n`),
  ),
  list(
    'a line without end',
    endless(() => 'x'.repeat(1_000)),
  ),
  list(
    'empty lines without end',
    endless(() => '\r\n'),
  ),
  list(
    'answers to commands that nobody gave, without end',
    endless((turn) => `X${turn} OK\r\n`),
  ),
  list(
    'news without end',
    endless((turn) => `* ${turn} EXISTS\r\n`),
  ),
  list('a literal of 4 GB', withTail('* LIST () "/" {4294967295}')),
  list('a literal of more bytes than a number holds', withTail(`* LIST () "/" {${'9'.repeat(400)}}`)),
  list(
    'literals without end',
    endless(() => '{0}\r\n'),
  ),
  list('lists in lists', withTail(`* LIST ${'('.repeat(2_000)}${')'.repeat(2_000)} "/" a`)),
  list('a line of as many words as fit', withTail(`* LIST (${'a '.repeat(32_000)}) "/" a`)),
  list('flags without a space', withTail(`* LIST (${'\\a'.repeat(30_000)}) "/" a`)),
  list('digits and colons', withTail(`* LIST () "/" ${`${'1'.repeat(32_000)}a${':'.repeat(32_000)}`}`)),
  list('a name in quotes of 60 KB', withTail(`* LIST () "/" "${'x'.repeat(60_000)}"`), 'answer'),
  list('ten thousand long names that differ at their end', manyFolders('\\Sent', LONG_NAME), 'answer'),
  list(
    'a thousand paths of a hundred levels',
    manyFolders('\\HasChildren', 'Ab/'.repeat(100), 1_000),
    'answer',
  ),
  {
    ...fetched('ten thousand spellings of one folder', manyFolders('\\Sent', LONG_NAME)),
    script: { LIST: manyFolders('\\Sent', LONG_NAME) },
    args: { folder: 'Projects' },
    ends: 'error',
  },
  list('a refusal of 15 KB', ({ tag, write }) => write(`${tag} NO ${'no '.repeat(5_000)}\r\n`)),
  list('NUL and control characters', withTail('\0\0\0* LIST () "\0" "\x01\x02\x7f"'), 'answer'),
  list(
    'nonsense',
    withTail(
      '*\r\n* \r\n* LIST\r\n* LIST NIL NIL NIL\r\n* 5\r\n*  LIST () "/" a\r\n* LIST () "/" {3}\r\nabc',
    ),
    'answer',
  ),
  { ...list('a goodbye without going', ({ write }) => write('* BYE enough\r\n')), isSlow: true },
  list('a connection that is cut within a literal', async ({ socket, write }) => {
    await write('* LIST () "/" {1000}\r\nabc');
    socket.destroy();
  }),
  list(
    'continuations without end',
    endless(() => '+ go on\r\n'),
  ),
  {
    ...list('a greeting without end', ''),
    script: { greeting: endless(() => '* OK '.repeat(100)) },
  },
  { ...list('a greeting of many lines', ''), script: { greeting: endless(() => '* hello\r\n') } },
  {
    ...list('capabilities without end', ''),
    script: { CAPABILITY: endless((turn) => `* CAPABILITY IMAP4rev1 X${turn}\r\n`), greeting: '* OK hi\r\n' },
  },
  {
    ...list('a challenge without end', ''),
    script: {
      greeting: '* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] hi\r\n',
      AUTHENTICATE: endless(() => '+ YWJj\r\n'),
    },
  },
  {
    ...list('a namespace in a namespace', ''),
    script: { NAMESPACE: withTail(`* NAMESPACE ${'('.repeat(60_000)}`) },
  },
  {
    ...fetched('numbers of messages without end', ''),
    script: { 'UID SEARCH': endless((turn) => `* SEARCH ${turn}\r\n`) },
  },
  {
    ...fetched('a million numbers in a line', ''),
    script: { 'UID SEARCH': withTail(`* SEARCH ${'1 '.repeat(1_000_000)}`) },
  },
  {
    ...fetched('a set of all numbers', '', 'answer'),
    script: { 'UID SEARCH': withTail('* ESEARCH UID ALL 1:4294967295\r\n* SEARCH') },
  },
  fetched(
    'messages without end',
    endless((turn) => fetchAnswer(turn)),
  ),
  fetched(
    'one message to five thousand people',
    oneBadMessage({ envelope: envelopeTo(people(5_000)) }),
    'answer',
  ),
  fetched(
    'one message to five hundred people',
    oneBadMessage({ envelope: envelopeTo(people(500)) }),
    'answer',
  ),
  fetched(
    'a subject of encoded words',
    oneBadMessage({ envelope: envelopeTo('NIL', `"${'=?utf-8?Q?=41?= '.repeat(4_000)}"`) }),
    'answer',
  ),
  fetched(
    'a subject of one endless encoded word',
    oneBadMessage({ envelope: envelopeTo('NIL', `"=?utf-8?B?${'QUJD'.repeat(15_000)}?="`) }),
    'answer',
  ),
  fetched(
    'a subject of broken encoded words',
    oneBadMessage({ envelope: envelopeTo('NIL', `"${'=?utf-8?Q?=?'.repeat(5_000)}"`) }),
    'answer',
  ),
  fetched(
    'a subject of spaces and tabs',
    oneBadMessage({ envelope: envelopeTo('NIL', `"a${' \t'.repeat(30_000)}b"`) }),
    'answer',
  ),
  fetched(
    'a charset that nobody knows',
    oneBadMessage({ envelope: envelopeTo('NIL', '"=?x-none?B?QUJD?="') }),
    'answer',
  ),
  fetched(
    'names that are addresses that are names',
    oneBadMessage({
      envelope: envelopeTo(
        `(${`("${'a@b,"<x>'.replaceAll('"', '\\"').repeat(20)}" NIL "x" "y")`.repeat(100)})`,
      ),
    }),
    'answer',
  ),
  fetched('parts in parts', oneBadMessage({ structure: nested(400) }), 'answer'),
  fetched('parts in parts, as deep as allowed', oneBadMessage({ structure: nested(15) }), 'answer'),
  fetched(
    'a thousand parts',
    oneBadMessage({ structure: `(${PLAIN_STRUCTURE.repeat(500)} "MIXED")` }),
    'answer',
  ),
  fetched(
    'parameters of parameters',
    oneBadMessage({
      structure: `("TEXT" "PLAIN" (${Array.from({ length: 500 }, (_, index) => `"name*${index}*" "utf-8''%41%"`).join(' ')}) NIL NIL "7BIT" 5 1)`,
    }),
    'answer',
  ),
  fetched(
    'things of the wrong kind',
    oneBadMessage({ envelope: '(((((1))) "x" 7 {1}\r\na) NIL 4)', structure: '(NIL NIL (1) NIL)' }),
    'answer',
  ),
  mailOf('990 quotations in quotations', `${'<blockquote>'.repeat(990)}deep${'</blockquote>'.repeat(990)}`),
  mailOf('a list that counts from 999999999 in Roman', '<ol start=999999999 type=i><li>one</li></ol>'),
  mailOf('quotations of many lines', `${'<blockquote>'.repeat(990)}${'a<br>'.repeat(40_000)}`),
  mailOf('tags that never end', '<b'.repeat(120_000)),
  mailOf('links in links', '<a href="https://x.test">a'.repeat(8_000)),
  mailOf('tables in tables', '<table><tr><td>'.repeat(15_000)),
  mailOf('entities', '&ngE;&#x10ffff;&#0;&#xd800;&amp'.repeat(8_000)),
  mailOf('comments', '<!--'.repeat(60_000)),
  mailOf('a body of spaces', ' '.repeat(5 * MIB), '("TEXT" "PLAIN" NIL NIL NIL "BASE64" 5242880 1)'),
  mailOf(
    'one line of quoted-printable',
    '= '.repeat(2 * MIB),
    '("TEXT" "PLAIN" NIL NIL NIL "QUOTED-PRINTABLE" 4194304 1)',
  ),
  mailOf(
    'text that flows on and on',
    '> a \r\n'.repeat(300_000),
    '("TEXT" "PLAIN" ("FORMAT" "flowed") NIL NIL "7BIT" 1800000 1)',
  ),
  mailOf(
    'Japanese that shifts and shifts',
    '\x1b$B\x1b(B'.repeat(40_000),
    '("TEXT" "PLAIN" ("CHARSET" "iso-2022-jp") NIL NIL "7BIT" 262144 1)',
  ),
  mailOf(
    'a charset of ten thousand letters',
    'abc',
    `("TEXT" "PLAIN" ("CHARSET" "${'x'.repeat(10_000)}") NIL NIL "7BIT" 3 1)`,
  ),
  mailOf('a body in UTF-7', '+ADw-b+AD4-', '("TEXT" "PLAIN" ("CHARSET" "utf-7") NIL NIL "7BIT" 10 1)'),
  { ...list('silence instead of a greeting', ''), script: { greeting: () => {} }, isSlow: true },
  { ...list('silence instead of a login', ''), script: { LOGIN: () => {} }, isSlow: true },
];

export interface SmtpAttack {
  name: string;
  script: SmtpScript;
  isSlow?: true;
}

const flooding =
  (piece: string): SmtpScript[string] =>
  ({ socket }) =>
    void flood(socket, () => piece, ENDLESS_BYTES);

export const SMTP_ATTACKS: readonly SmtpAttack[] = [
  { name: 'a greeting without end', script: { greeting: flooding('220-hello\r\n') } },
  { name: 'a line without end', script: { greeting: flooding('x'.repeat(1_000)) } },
  { name: 'a reply of 1 MB', script: { EHLO: `${'250-x\r\n'.repeat(150_000)}250 x\r\n` } },
  { name: 'extensions without end', script: { EHLO: flooding('250-AUTH PLAIN\r\n') } },
  { name: 'a line of 100 KB', script: { EHLO: `250 AUTH ${' '.repeat(100_000)}PLAIN\r\n` } },
  { name: 'a challenge of 1 MB', script: { AUTH: `334 ${'A'.repeat(MIB)}\r\n` } },
  { name: 'replies that nobody asked for', script: { MAIL: flooding('250 ok\r\n') } },
  { name: 'empty lines without end', script: { RCPT: flooding('\r\n') } },
  { name: 'a refusal with control characters', script: { message: '554 \0\x1b[2J\x07no\r\n' } },
  { name: 'no number', script: { MAIL: 'yes\r\n' } },
  { name: 'a goodbye', script: { EHLO: '421 not now\r\n' } },
  { name: 'a connection that is cut', script: { DATA: ({ socket }) => socket.destroy() } },
  { name: 'silence instead of a greeting', script: { greeting: () => {} }, isSlow: true },
];
