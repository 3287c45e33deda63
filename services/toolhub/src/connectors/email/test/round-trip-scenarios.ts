import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ToolContext } from '../../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { connectImap } from '../imap/connection.ts';
import type { Message } from '../mime/message.ts';
import {
  ARRIVAL_MS_MAX,
  ARRIVAL_STEP_MS,
  appendRaw,
  callerOf,
  findArrived,
  type MailSetup,
} from './mail-setup.ts';

/** Mail that is sent, read and answered, on whatever server. */
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
    for (const [part_id, size] of [
      [binary, bytes.length],
      [notes, 15],
    ])
      expect(
        await call('email_get_attachment', { folder: 'INBOX', uid, part_id, offset: 200_000 }, bob),
      ).toMatchObject({ size, content_base64: '', next_offset: null });
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

  it('answers a mail of its own to those who got it', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    const head = 'From: bob@mail.test\r\nTo: Bob <BOB@mail.test>, carol@mail.test\r\nCc: alice@mail.test\r\n';
    await appendRaw(bob, { folder: 'Archive', raw: `${head}Subject: my own words\r\n\r\nhello\r\n` });
    const { uid } = await findArrived(connector, bob, { folder: 'Archive', subject: 'my own words' });
    const reply = { folder: 'Archive', uid, text: 'and more' };
    expect(await call('email_reply_message', reply, bob)).toMatchObject({ accepted: ['carol@mail.test'] });
    expect(await call('email_reply_message', { ...reply, reply_all: true }, bob)).toMatchObject({
      accepted: ['carol@mail.test', 'alice@mail.test'],
    });
  });
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
