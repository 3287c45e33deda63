import { setTimeout as sleep } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import { expect, it } from 'vitest';
import type { Connector, ToolContext } from '../../connector.ts';
import { runTool } from '../../test/tool-runner.ts';
import type { EmailCredential } from '../credential.ts';
import { connectImap } from '../imap-connection.ts';
import type { Message, MessageSummary } from '../message.ts';

/** Two accounts on one server; everything that follows only knows the tools. */
export interface MailSetup {
  connector: Connector;
  alice: ToolContext<EmailCredential>;
  bob: ToolContext<EmailCredential>;
  /** A folder with a name outside of ASCII that exists on the server. */
  oddFolder: string;
  /** Names and searches that the server itself falls over; they are tried on the others. */
  serverFailsOn?: readonly string[];
}

const ARRIVAL_MS_MAX = 10_000;
const ARRIVAL_STEP_MS = 50;

type Page<Item> = { items: Item[]; next_cursor: string | null };

export function callerOf(connector: Connector) {
  return <Result>(name: string, args: Record<string, unknown>, context: ToolContext<EmailCredential>) =>
    runTool<Result>(connector, name, { args, context: context as ToolContext });
}

/** Mail takes its way through several servers; this looks until it is there. */
export async function findArrived(
  connector: Connector,
  context: ToolContext<EmailCredential>,
  wanted: string | Record<string, unknown>,
): Promise<MessageSummary> {
  const call = callerOf(connector);
  for (let waitedMs = 0; waitedMs < ARRIVAL_MS_MAX; waitedMs += ARRIVAL_STEP_MS) {
    const args = typeof wanted === 'string' ? { subject: wanted } : wanted;
    const page = await call<Page<MessageSummary>>('email_search_messages', args, context);
    const [first] = page.items;
    if (first !== undefined) return first;
    await sleep(ARRIVAL_STEP_MS);
  }
  throw new Error(`${JSON.stringify(wanted)} did not arrive`);
}

/** Puts a message into a folder as it is, byte by byte. */
export async function appendRaw(
  context: ToolContext<EmailCredential>,
  { folder, raw, flags = [] }: { folder: string; raw: string | Buffer; flags?: string[] },
): Promise<void> {
  const client: ImapFlow = await connectImap(context.credential.imap, context);
  await client.append(folder, typeof raw === 'string' ? Buffer.from(raw, 'latin1') : raw, flags);
  await client.logout();
}

export function itDoesTheRoundTrip(setup: () => MailSetup): void {
  it('sends, finds and reads, and the message stays unread', async () => {
    const { connector, alice, bob } = setup();
    const call = callerOf(connector);
    const sent = await call<{ message_id: string; accepted: string[] }>(
      'email_send_message',
      {
        to: ['Bob Büttner <bob@mail.test>'],
        subject: 'Grüße 🌍 from “Alice” – a subject that is long enough to be folded into more than one line',
        text: 'Zeile eins\n.\nZeile drei – ünïcödé 漢字 🌍\n',
        html: '<p>Zeile <b>eins</b></p>',
      },
      alice,
    );
    expect(sent.accepted).toEqual(['bob@mail.test']);
    const found = await findArrived(connector, bob, { from: 'alice@mail.test' });
    expect(found).toMatchObject({
      folder: 'INBOX',
      message_id: sent.message_id,
      from: 'Alice Ärmel <alice@mail.test>',
      to: ['Bob Büttner <bob@mail.test>'],
      subject: 'Grüße 🌍 from “Alice” – a subject that is long enough to be folded into more than one line',
      flags: [],
      has_attachments: false,
    });
    const read = await call<Message>('email_get_message', { folder: 'INBOX', uid: found.uid }, bob);
    expect(read.text).toBe('Zeile eins\n.\nZeile drei – ünïcödé 漢字 🌍');
    expect(read.html).toContain('<b>eins</b>');
    expect(read).toMatchObject({ attachments: [], truncated: false, untrusted_content: true });
    const textOnly = await call<Message>(
      'email_get_message',
      { folder: 'INBOX', uid: found.uid, format: 'text' },
      bob,
    );
    expect(textOnly.html).toBeNull();
    const again = await findArrived(connector, bob, { from: 'alice@mail.test' });
    expect(again.flags).toEqual([]);
  });

  it('carries attachments byte for byte, in pages', async () => {
    const { connector, alice, bob } = setup();
    const call = callerOf(connector);
    const bytes = Buffer.from(
      Array.from({ length: 100_001 }, (_, index) => (index * 7 + (index >> 8)) % 256),
    );
    const attachments = [
      {
        filename: 'Übersicht “2026”.bin',
        content_type: 'application/octet-stream',
        content_base64: bytes.toString('base64'),
      },
      {
        filename: 'notes.txt',
        content_type: 'text/plain',
        content_base64: Buffer.from('plain\r\nnotes ü').toString('base64'),
      },
    ];
    await call(
      'email_send_message',
      { to: ['bob@mail.test'], subject: 'attached', text: 'see', attachments },
      alice,
    );
    const { uid } = await findArrived(connector, bob, 'attached');
    const message = await call<Message>('email_get_message', { folder: 'INBOX', uid }, bob);
    expect(
      message.attachments.map(({ filename, content_type, size }) => ({ filename, content_type, size })),
    ).toEqual([
      { filename: 'Übersicht “2026”.bin', content_type: 'application/octet-stream', size: bytes.length },
      { filename: 'notes.txt', content_type: 'text/plain', size: 15 },
    ]);
    const [binary, notes] = message.attachments.map(({ part_id }) => part_id);
    const whole = await call<{ content_base64: string; next_offset: number | null }>(
      'email_get_attachment',
      { folder: 'INBOX', uid, part_id: binary },
      bob,
    );
    expect(Buffer.from(whole.content_base64, 'base64').equals(bytes)).toBe(true);
    expect(whole.next_offset).toBeNull();
    const pieces: Buffer[] = [];
    let offset: number | null = 0;
    while (offset !== null) {
      const page: { content_base64: string; next_offset: number | null } = await call(
        'email_get_attachment',
        { folder: 'INBOX', uid, part_id: binary, offset, max_bytes: 40_000 },
        bob,
      );
      pieces.push(Buffer.from(page.content_base64, 'base64'));
      offset = page.next_offset;
    }
    expect(pieces.map(({ length }) => length)).toEqual([40_000, 40_000, 20_001]);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    const text = await call<{ content_base64: string }>(
      'email_get_attachment',
      { folder: 'INBOX', uid, part_id: notes },
      bob,
    );
    expect(Buffer.from(text.content_base64, 'base64').toString()).toBe('plain\r\nnotes ü');
    await expect(
      call('email_get_attachment', { folder: 'INBOX', uid, part_id: '9' }, bob),
    ).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it('replies in the thread and marks the original as answered', async () => {
    const { connector, alice, bob } = setup();
    const call = callerOf(connector);
    await call(
      'email_send_message',
      { to: ['bob@mail.test'], cc: ['carol@mail.test'], subject: 'thread start', text: 'one' },
      alice,
    );
    const first = await findArrived(connector, bob, 'thread start');
    const reply = await call<{ message_id: string; accepted: string[]; marked_answered: boolean }>(
      'email_reply_message',
      { folder: 'INBOX', uid: first.uid, text: 'two', reply_all: true },
      bob,
    );
    expect(reply.accepted.sort()).toEqual(['alice@mail.test', 'carol@mail.test']);
    expect(reply.marked_answered).toBe(true);
    const answered = await call<Message>('email_get_message', { folder: 'INBOX', uid: first.uid }, bob);
    expect(answered.flags).toContain('answered');
    const second = await findArrived(connector, alice, 'Re: thread start');
    expect(second.subject).toBe('Re: thread start');
    await call('email_reply_message', { folder: 'INBOX', uid: second.uid, text: 'three' }, alice);
    const headers = await lastHeaders(bob);
    expect(headers).toMatch(new RegExp(`^In-Reply-To: ${literal(reply.message_id)}`, 'im'));
    expect(headers.replaceAll(/\r\n\s+/g, ' ')).toMatch(
      new RegExp(`^References: ${literal(first.message_id ?? '')} ${literal(reply.message_id)}`, 'im'),
    );
    expect(headers).toMatch(/^Subject: Re: thread start/im);
  });

  it('sets and clears flags, and names what is not there', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    await appendRaw(bob, { folder: 'INBOX', raw: plainMail('to flag') });
    const { uid } = await findArrived(connector, bob, 'to flag');
    const args = { folder: 'INBOX', uids: [uid, 4_000_000_000], add: ['seen', 'flagged'] };
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect(await call('email_update_flags', args, bob)).toEqual({
        folder: 'INBOX',
        messages: [{ uid, flags: ['seen', 'flagged'] }],
        missing: [4_000_000_000],
      });
    }
    const cleared = await call<{ messages: unknown }>(
      'email_update_flags',
      { folder: 'INBOX', uids: [uid], remove: ['seen'] },
      bob,
    );
    expect(cleared.messages).toEqual([{ uid, flags: ['flagged'] }]);
    const unread = await call<Page<MessageSummary>>(
      'email_search_messages',
      { subject: 'to flag', unseen: true },
      bob,
    );
    expect(unread.items).toHaveLength(1);
    const read = await call<Page<MessageSummary>>(
      'email_search_messages',
      { subject: 'to flag', unseen: false },
      bob,
    );
    expect(read.items).toHaveLength(0);
  });

  it('moves messages, also to folders with names outside of ASCII', async () => {
    const { connector, bob, oddFolder } = setup();
    const call = callerOf(connector);
    await appendRaw(bob, { folder: 'INBOX', raw: plainMail('to move') });
    const { uid } = await findArrived(connector, bob, 'to move');
    const refused = call(
      'email_move_messages',
      { folder: 'INBOX', uids: [uid], target_folder: 'No such folder' },
      bob,
    );
    await expect(refused).rejects.toMatchObject({ code: 'invalid_arguments' });
    const moved = await call<{ moved: { uid: number }[]; missing: number[] }>(
      'email_move_messages',
      { folder: 'INBOX', uids: [uid, 4_000_000_000], target_folder: oddFolder },
      bob,
    );
    expect(moved.moved.map((entry) => entry.uid)).toEqual([uid]);
    expect(moved.missing).toEqual([4_000_000_000]);
    const there = await call<Page<MessageSummary>>(
      'email_search_messages',
      { folder: oddFolder, subject: 'to move' },
      bob,
    );
    expect(there.items).toHaveLength(1);
    const here = await call<Page<MessageSummary>>('email_search_messages', { subject: 'to move' }, bob);
    expect(here.items).toHaveLength(0);
    const folders = await call<Page<{ path: string; messages: number; special_use: string | null }>>(
      'email_list_folders',
      {},
      bob,
    );
    expect(folders.items[0]?.path).toBe('INBOX');
    expect(folders.items.find(({ path }) => path === oddFolder)?.messages).toBe(1);
    expect(folders.items.find(({ path }) => path === 'Archive')?.special_use).toBe('archive');
    const firstPage = await call<Page<{ path: string }>>('email_list_folders', { limit: 1 }, bob);
    const secondPage = await call<Page<{ path: string }>>(
      'email_list_folders',
      { limit: 100, cursor: firstPage.next_cursor },
      bob,
    );
    expect([...firstPage.items, ...secondPage.items].map(({ path }) => path)).toEqual(
      folders.items.map(({ path }) => path),
    );
  });

  it('treats tricks in folder names and searches as the text they are', async () => {
    const { connector, bob, oddFolder, serverFailsOn = [] } = setup();
    const call = callerOf(connector);
    await appendRaw(bob, { folder: oddFolder, raw: plainMail('untouched') });
    const tricks = [
      '../../../etc/passwd',
      '/etc/passwd',
      'INBOX/../../alice@mail.test/mail',
      'INBOX" "x',
      'INBOX\r\nA1 DELETE "Archive"',
      '*',
      '%',
      '{5}',
      '~root',
      'a'.repeat(501),
      '\\',
      '&-',
      '.',
      '..',
      '\u0000',
    ];
    for (const folder of tricks.filter((trick) => !serverFailsOn.includes(trick))) {
      const search = call<Page<unknown>>('email_search_messages', { folder }, bob);
      await expect(search, folder).rejects.toMatchObject({ code: 'invalid_arguments' });
    }
    const queries = ['" SEEN', '\\"', ') UNSEEN (', '{3}', 'a" OR SUBJECT "untouched', '%', '漢字'];
    for (const query of queries.filter((trick) => !serverFailsOn.includes(trick))) {
      const page = await call<Page<unknown>>('email_search_messages', { folder: oddFolder, query }, bob);
      expect(page.items, query).toEqual([]);
    }
    const page = await call<Page<MessageSummary>>(
      'email_search_messages',
      { folder: oddFolder, query: 'untouched' },
      bob,
    );
    expect(page.items.map(({ subject }) => subject)).toContain('untouched');
  });

  it('goes through a folder in pages, newest first, with every filter', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    for (let index = 0; index < 7; index += 1) {
      const raw = index % 3 === 0 ? mailWithAttachment(`paged ${index}`) : plainMail(`paged ${index}`);
      await appendRaw(bob, { folder: 'Archive', raw });
    }
    const subjects: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<MessageSummary> = await call(
        'email_search_messages',
        { folder: 'Archive', subject: 'paged', limit: 3, ...(cursor === null ? {} : { cursor }) },
        bob,
      );
      subjects.push(...page.items.map(({ subject }) => subject));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(subjects).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `paged ${index}`));
    const attached = await call<Page<MessageSummary>>(
      'email_search_messages',
      { folder: 'Archive', has_attachment: true, limit: 2 },
      bob,
    );
    expect(attached.items.map(({ subject }) => subject)).toEqual(['paged 6', 'paged 3']);
    const rest = await call<Page<MessageSummary>>(
      'email_search_messages',
      { folder: 'Archive', has_attachment: true, limit: 2, cursor: attached.next_cursor },
      bob,
    );
    expect(rest).toMatchObject({ items: [{ subject: 'paged 0' }], next_cursor: null });
    const today = new Date().toISOString().slice(0, 10);
    const none = await call<Page<unknown>>(
      'email_search_messages',
      { folder: 'Archive', before: '2020-01-01' },
      bob,
    );
    expect(none.items).toEqual([]);
    const since = new Date(Date.parse(today) - 86_400_000).toISOString();
    const all = await call<Page<unknown>>(
      'email_search_messages',
      { folder: 'Archive', since, from: 'someone@' },
      bob,
    );
    expect(all.items).toHaveLength(7);
    const badCursor = call('email_search_messages', { folder: 'Archive', cursor: 'bm90IG91cnM' }, bob);
    await expect(badCursor).rejects.toMatchObject({ code: 'invalid_arguments' });
  });
}

export function itReadsMime(setup: () => MailSetup): void {
  it('reads nested parts, charsets and encoded names', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    await appendRaw(bob, { folder: 'Archive', raw: nestedMail() });
    const { uid } = await findArrived(connector, bob, { folder: 'Archive', from: 'nested@else.test' });
    const message = await call<Message>('email_get_message', { folder: 'Archive', uid }, bob);
    expect(message.from).toBe('"Müller, Jörg" <nested@else.test>');
    expect(message.subject).toBe('日本語の件名');
    expect(message.text).toBe('Café déjà vu\nsecond line');
    expect(message.html).toBe('<p>Привет</p>');
    expect(message.attachments).toMatchObject([
      { filename: 'größe.txt', content_type: 'text/plain' },
      { filename: null, content_type: 'message/rfc822' },
      { filename: 'passwd', content_type: 'application/x-sh' },
    ]);
    const [latin] = message.attachments;
    const page = await call<{ content_base64: string }>(
      'email_get_attachment',
      { folder: 'Archive', uid, part_id: latin?.part_id },
      bob,
    );
    // An attachment comes as it was sent, in its own charset.
    expect(Buffer.from(page.content_base64, 'base64').toString('latin1')).toBe('Größe\r\n');
  });

  it('makes text of a message that only has HTML, and cuts what is too long', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    const head = 'From: html@else.test\r\nTo: bob@mail.test\r\nSubject: only html\r\nMIME-Version: 1.0\r\n';
    const html = '<style>p{}</style><p>Hello <b>there</b></p><script>alert(1)</script>';
    await appendRaw(bob, { folder: 'Archive', raw: `${head}Content-Type: text/html\r\n\r\n${html}\r\n` });
    const small = await findArrived(connector, bob, { folder: 'Archive', from: 'html@else.test' });
    const message = await call<Message>('email_get_message', { folder: 'Archive', uid: small.uid }, bob);
    expect(message.text).toBe('Hello there');
    expect(message).toMatchObject({ html, truncated: false });
    const long = plainMail('too long', 'ü'.repeat(300_000).replaceAll(/.{70}/g, '$&\r\n'));
    await appendRaw(bob, {
      folder: 'Archive',
      raw: Buffer.from(long.replace('Date:', 'Content-Type: text/plain; charset=utf-8\r\nDate:')),
    });
    const found = await findArrived(connector, bob, { folder: 'Archive', subject: 'too long' });
    const cut = await call<Message>('email_get_message', { folder: 'Archive', uid: found.uid }, bob);
    expect(cut.truncated).toBe(true);
    expect(Buffer.byteLength(cut.text ?? '')).toBeLessThanOrEqual(256 * 1024);
    expect(cut.text).not.toContain('\ufffd');
  });
}

/** Deep, in four charsets, with names in three notations, one of them a path. */
function nestedMail(): string {
  return [
    'From: =?ISO-8859-1?Q?=22M=FCller=2C_J=F6rg=22?= <nested@else.test>',
    'To: bob@mail.test',
    'Subject: =?ISO-2022-JP?B?GyRCRnxLXDhsJE43b0w+GyhC?=',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="outer"',
    '',
    'This is a multi-part message in MIME format.',
    '--outer',
    'Content-Type: multipart/related; boundary="middle"',
    '',
    '--middle',
    'Content-Type: multipart/alternative; boundary="inner"',
    '',
    '--inner',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Caf=E9 d=E9j=E0 =',
    'vu',
    'second line',
    '--inner',
    'Content-Type: text/html; charset=koi8-r',
    'Content-Transfer-Encoding: base64',
    '',
    'PHA+8NLJ18XUPC9wPg==',
    '--inner--',
    '--middle--',
    '--outer',
    "Content-Type: text/plain; charset=iso-8859-1; name*=iso-8859-1''gr%F6%DFe.txt",
    "Content-Disposition: inline; filename*=iso-8859-1''gr%F6%DFe.txt",
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Gr=F6=DFe=0D=0A=',
    '',
    '--outer',
    'Content-Type: message/rfc822',
    '',
    'From: inner@else.test',
    'Subject: forwarded',
    'Content-Type: text/plain',
    '',
    'a message inside',
    '--outer',
    'Content-Type: application/x-sh',
    'Content-Disposition: attachment; filename="../../etc/passwd"',
    '',
    'echo',
    '--outer--',
    '',
  ].join('\r\n');
}

async function lastHeaders(context: ToolContext<EmailCredential>): Promise<string> {
  const client = await connectImap(context.credential.imap, context);
  try {
    for (let waitedMs = 0; waitedMs < ARRIVAL_MS_MAX; waitedMs += ARRIVAL_STEP_MS) {
      await client.mailboxOpen('INBOX');
      const found = await client.search({ subject: 'Re: thread start' }, { uid: true });
      const uid = found ? found.at(-1) : undefined;
      if (uid !== undefined) {
        const fetched = await client.fetchOne(String(uid), { headers: true }, { uid: true });
        const headers = fetched ? fetched.headers : undefined;
        if (headers !== undefined) return headers.toString('latin1');
      }
      await sleep(ARRIVAL_STEP_MS);
    }
    throw new Error('the reply did not arrive');
  } finally {
    client.close();
  }
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

export function plainMail(subject: string, body = 'hello'): string {
  return `From: Someone <someone@else.test>\r\nTo: bob@mail.test\r\nSubject: ${subject}\r\nMessage-ID: <${Math.random()}@else.test>\r\nDate: Mon, 02 Nov 2026 10:00:00 +0100\r\n\r\n${body}\r\n`;
}

function mailWithAttachment(subject: string): string {
  return [
    `From: Someone <someone@else.test>`,
    'To: bob@mail.test',
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'see attached',
    '--b',
    'Content-Type: application/pdf; name=a.pdf',
    'Content-Disposition: attachment; filename=a.pdf',
    'Content-Transfer-Encoding: base64',
    '',
    'JVBERi0=',
    '--b--',
    '',
  ].join('\r\n');
}
