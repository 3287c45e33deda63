// Mail as it leaves: files that appear whole, and a real SMTP conversation.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Mail } from './mail.ts';
import { createMailer } from './mailer.ts';
import { createNoticeMailer } from './notice-mailer.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'libs-mail-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const options = () => ({
  smtpUrl: undefined as string | undefined,
  folder: join(folder, 'mail'),
  from: 'Toolhub <billing@toolhub.example>',
  host: 'toolhub.example',
  now: () => new Date('2026-11-01T00:10:00Z'),
});
const pdf = Buffer.from([0x25, 0x50, 0x44, 0x46, 0, 255, 13, 10, 46, 13, 10]);
const mail: Mail = {
  id: 'inv_1',
  to: 'ada@example.com',
  subject: 'Invoice for October\r\nX-Injected: yes — €',
  text: 'Hello,\n.\nthis line stood below a lone dot.\n',
  attachments: [{ filename: 'INV-000001.pdf', contentType: 'application/pdf', content: pdf }],
};

async function expectMail(source: Buffer | string): Promise<void> {
  const parsed = await simpleParser(source);
  expect(parsed.messageId).toBe('<inv_1@toolhub.example>');
  expect(parsed.headers.has('x-injected')).toBe(false);
  expect(parsed.headers.has('bcc')).toBe(false);
  expect(parsed.subject).toContain('Invoice for October');
  expect(parsed.text).toContain('below a lone dot');
  expect(parsed.attachments).toHaveLength(1);
  expect(parsed.attachments[0]?.filename).toBe('INV-000001.pdf');
  expect(parsed.attachments[0]?.content.equals(pdf)).toBe(true);
}

describe('without a mail server', () => {
  test('each mail is one file, and a repeat replaces it', async () => {
    const mailer = createMailer(options());
    await mailer.send(mail);
    await mailer.send(mail);
    await mailer.send({ ...mail, id: 'inv_2' });
    expect((await readdir(join(folder, 'mail'))).sort()).toEqual(['inv_1.eml', 'inv_2.eml']);
    await expectMail(await readFile(join(folder, 'mail', 'inv_1.eml')));
    await mailer.close();
  });

  test('ids that are no plain names are refused, a folder that cannot be written is told', async () => {
    const mailer = createMailer(options());
    await expect(mailer.send({ ...mail, id: '../inv' })).rejects.toThrow(TypeError);
    const blocked = createMailer({ ...options(), folder: '/dev/null/mail' });
    await expect(blocked.send(mail)).rejects.toMatchObject({ name: 'MailError', kind: 'unreachable' });
  });
});

describe('with a mail server', () => {
  let server: SMTPServer;
  const answers: Record<string, [code: number, text: string]> = {
    'nobody@example.com': [550, 'no such mailbox'],
    'moved@example.com': [551, '5.1.6 has moved'],
    'later@example.com': [450, '4.2.0 greylisted, come back later'],
    'full@example.com': [552, '5.2.2 over quota'],
    'elsewhere@example.com': [550, '5.7.1 relaying denied'],
    'unproved@example.com': [530, '5.7.0 authentication required'],
  };
  const received: { to: string[]; source: Buffer }[] = [];
  const hangUp = () => {
    const { connections } = server as unknown as { connections: Set<{ _socket: Socket }> };
    for (const { _socket: socket } of connections) socket.destroy();
  };

  beforeEach(async () => {
    received.length = 0;
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo({ address }, _session, done) {
        if (address === 'cut@example.com') return hangUp();
        const [responseCode, text] = answers[address] ?? [];
        done(text === undefined ? null : Object.assign(new Error(text), { responseCode }));
      },
      onData(stream, session, done) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          received.push({
            to: session.envelope.rcptTo.map(({ address }) => address),
            source: Buffer.concat(chunks),
          });
          const [{ address } = { address: '' }] = session.envelope.rcptTo;
          if (address === 'unanswered@example.com') hangUp();
          else done(address === 'spam@example.com' ? new Error('5.7.1 no') : null);
        });
      },
    });
    await new Promise<void>((ready) => {
      server.listen(0, '127.0.0.1', ready);
    });
  });
  afterEach(() => new Promise<void>((done) => server.close(done)));

  const smtpUrl = () => `smtp://127.0.0.1:${(server.server.address() as { port: number }).port}`;

  test('arrives once, at the one address, with its attachment', async () => {
    const mailer = createMailer({ ...options(), smtpUrl: smtpUrl() });
    await mailer.send(mail);
    expect(received.map(({ to }) => to)).toEqual([['ada@example.com']]);
    await expectMail(received[0]?.source as Buffer);
    await mailer.close();
  });

  test('a mailbox that is refused and a server that is away are told apart', async () => {
    const mailer = createMailer({ ...options(), smtpUrl: smtpUrl() });
    const kindFor = (to: string) =>
      mailer.send({ ...mail, to }).then(
        () => 'sent',
        ({ kind }) => kind,
      );
    for (const to of ['nobody@example.com', 'moved@example.com'])
      expect([to, await kindFor(to)]).toEqual([to, 'recipient_refused']);
    for (const name of ['later', 'full', 'elsewhere', 'unproved'])
      expect([name, await kindFor(`${name}@example.com`)]).toEqual([name, 'refused']);
    await mailer.close();
    const away = createMailer({ ...options(), smtpUrl: 'smtp://127.0.0.1:1' });
    await expect(away.send(mail)).rejects.toMatchObject({ kind: 'unreachable' });
    await away.close();
  });

  test('what may have left is told from what certainly did not', async () => {
    const mailer = createMailer({ ...options(), smtpUrl: smtpUrl() });
    const sending = (name: string) => mailer.send({ ...mail, to: `${name}@example.com` });
    const open = { kind: 'unreachable', mayHaveLeft: true };
    await expect(sending('unanswered')).rejects.toMatchObject(open);
    expect(received).toHaveLength(1);
    await expect(sending('cut')).rejects.toMatchObject({ kind: 'unreachable', mayHaveLeft: false });
    await expect(sending('spam')).rejects.toMatchObject({ kind: 'refused', mayHaveLeft: false });
    await expect(sending('later')).rejects.toMatchObject({ kind: 'refused', mayHaveLeft: false });
    await mailer.close();
  });

  test('a notice to a mailbox that is refused for good is told of and done with, any other is tried again', async () => {
    const mailer = createMailer({ ...options(), smtpUrl: smtpUrl() });
    const refused: string[] = [];
    const notices = createNoticeMailer(mailer, (error, id) => refused.push(`${id} ${error.kind}`));
    await notices.send({ ...mail, to: 'nobody@example.com' });
    expect(refused).toEqual(['inv_1 recipient_refused']);
    await expect(notices.send({ ...mail, to: 'later@example.com' })).rejects.toMatchObject({
      kind: 'refused',
    });
    await notices.send(mail);
    expect(refused).toHaveLength(1);
    expect(received).toHaveLength(1);
    await mailer.close();
  });
});
