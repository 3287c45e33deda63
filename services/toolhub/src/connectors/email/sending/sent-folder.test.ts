// The copy of what was sent: where it goes, what it holds, and that nothing about it can spoil the sending.
import type { HoodiecrowPlugin } from 'hoodiecrow-imap';
import { simpleParser } from 'mailparser';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Connector, ToolContext } from '../../connector.ts';
import { closeTestContexts, testContext } from '../../test/tool-runner.ts';
import { createEmailConnector } from '../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { createImapPool } from '../imap/pool.ts';
import { type InProcessMailServer, startInProcessMail } from '../test/in-process-mail-server.ts';
import { callerOf, findArrived, plainMail } from '../test/mail-setup.ts';
import { fileCopy } from './sent-folder.ts';

const USERS = { 'bob@mail.test': 'pass-b' };
const SENT = 'Gesendet';

type Sent = { message_id: string; accepted: string[]; sent_folder: string | null };

function contextFor(mail: InProcessMailServer, signal?: AbortSignal): ToolContext<EmailCredential> {
  const server = (port: number) => ({
    ...{ host: '127.0.0.1', port, secure: false, user: 'bob@mail.test', password: 'pass-b' },
  });
  return testContext({
    platform: 'email',
    credential: { imap: server(mail.imapPort), smtp: server(mail.smtpPort), from: 'bob@mail.test' },
    allow: [`127.0.0.1:${mail.imapPort}`, `127.0.0.1:${mail.smtpPort}`],
    ...(signal === undefined ? {} : { signal }),
  }) as ToolContext<EmailCredential>;
}

function sender(connector: Connector, mail: InProcessMailServer) {
  return (args: Record<string, unknown> = {}, signal?: AbortSignal) =>
    callerOf(connector)<Sent>(
      'email_send_message',
      { to: ['alice@mail.test'], subject: 's', text: 'first\nsecond', ...args },
      contextFor(mail, signal),
    );
}

describe('a copy of what was sent', () => {
  let mail: InProcessMailServer;
  let connector: Connector;
  let send: ReturnType<typeof sender>;

  beforeAll(async () => {
    mail = await startInProcessMail({ users: USERS, hasSent: true });
  });
  beforeEach(() => {
    connector = createEmailConnector();
    send = sender(connector, mail);
    mail.received.length = 0;
    filed().length = 0;
  });
  afterEach(async () => {
    await connector.close?.();
    await closeTestContexts();
  });
  afterAll(() => mail.stop());

  const filed = () => mail.imap.getMailbox(SENT)?.messages ?? [];

  it('lies once in the folder that the server names for it, read, and as it was sent', async () => {
    const content_base64 = Buffer.from('bytes').toString('base64');
    const sent = await send({
      bcc: ['quiet@mail.test'],
      attachments: [{ filename: 'ä.txt', content_type: 'text/plain', content_base64 }],
    });
    expect(sent.sent_folder).toBe(SENT);
    expect(filed()).toHaveLength(1);
    expect(filed()[0]?.flags).toContain('\\Seen');
    const raw = String(filed()[0]?.raw);
    expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    const copy = await simpleParser(raw);
    const left = await simpleParser(mail.received[0]?.raw ?? '');
    expect(copy.messageId).toBe(sent.message_id);
    expect(copy.text).toBe(left.text);
    expect(copy.date).toEqual(left.date);
    expect(copy.attachments.map(({ filename, content }) => [filename, content.toString()])).toEqual([
      ['ä.txt', 'bytes'],
    ]);
    // The sender sees who else got it; the others do not.
    expect(JSON.stringify(copy.bcc)).toContain('quiet@mail.test');
    expect(left.bcc).toBeUndefined();
  });

  it('is made of replies, too', async () => {
    mail.imap.appendMessage('INBOX', [], false, plainMail('a question'));
    const { uid } = await findArrived(connector, contextFor(mail), 'a question');
    const reply = await callerOf(connector)<Sent & { marked_answered: boolean }>(
      'email_reply_message',
      { folder: 'INBOX', uid, text: 'an answer' },
      contextFor(mail),
    );
    expect(reply).toMatchObject({ sent_folder: SENT, marked_answered: true });
    expect((await simpleParser(String(filed()[0]?.raw))).subject).toBe('Re: a question');
  });

  it('is not made of a mail that did not leave', async () => {
    mail.failNext({ step: 'data', code: 552 });
    await expect(send()).rejects.toMatchObject({ code: 'platform_error' });
    mail.failNext({ step: 'drop' });
    await expect(send()).rejects.toMatchObject({ code: 'platform_unavailable' });
    await expect(send({ to: ['not an address'] })).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(filed()).toEqual([]);
  });

  it('is not made a second time of one that is there', async () => {
    const pool = createImapPool();
    const message = { messageId: '<same@mail.test>', date: new Date(), subject: 'x', text: 'x' };
    expect(await fileCopy(pool, message, contextFor(mail))).toBe(SENT);
    expect(await fileCopy(pool, message, contextFor(mail))).toBe(SENT);
    expect(filed()).toHaveLength(1);
    await pool.close();
  });
});

describe('a copy that cannot be made', () => {
  /** How the server takes an APPEND. */
  async function sendWhen(
    answer: 'refuses' | 'drops' | 'hangs',
    during: (mail: InProcessMailServer) => void = () => {},
    signal?: AbortSignal,
  ): Promise<{ sent: Sent; mails: number }> {
    const mail = await startInProcessMail({ users: USERS, hasSent: true });
    const connector = createEmailConnector();
    mail.imap.setCommandHandler('APPEND', (connection, parsed, data, done) => {
      during(mail);
      const attributes = [{ type: 'TEXT', value: 'over quota' }];
      if (answer === 'refuses') {
        connection.send({ tag: parsed.tag, command: 'NO', attributes }, 'NO', parsed, data);
      } else if (answer === 'drops') mail.dropImapConnections();
      if (answer !== 'hangs') done();
    });
    try {
      const sent = await sender(connector, mail)({}, signal);
      return { sent, mails: mail.received.length };
    } finally {
      await connector.close?.();
      await closeTestContexts();
      await mail.stop();
    }
  }
  const left = { sent: { accepted: ['alice@mail.test'], sent_folder: null }, mails: 1 };

  it('leaves the sending as it is when the server refuses it or goes away', async () => {
    expect(await sendWhen('refuses')).toMatchObject(left);
    expect(await sendWhen('drops')).toMatchObject(left);
  });

  it('holds nobody up: whoever stops waiting still learns that the mail has left', async () => {
    const abort = new AbortController();
    const stop = () => abort.abort(new Error('enough'));
    expect(await sendWhen('hangs', stop, abort.signal)).toMatchObject(left);
  });

  it('is none where IMAP is down altogether', async () => {
    const mail = await startInProcessMail({ users: USERS });
    const connector = createEmailConnector();
    const context = contextFor(mail);
    const { credential } = context;
    const broken = { ...context, credential: { ...credential, imap: { ...credential.imap, port: 1 } } };
    const args = { to: ['alice@mail.test'], subject: 's', text: 't' };
    expect(await callerOf(connector)<Sent>('email_send_message', args, broken)).toMatchObject(left.sent);
    expect(mail.received).toHaveLength(1);
    await connector.close?.();
    await closeTestContexts();
    await mail.stop();
  });
});

describe('a server that needs no help', () => {
  const likeGmail: HoodiecrowPlugin = (server) => server.registerCapability('X-GM-EXT-1', () => true);

  it.each([
    ['has no folder for sent mail', {}],
    ['files by itself, as Gmail does', { hasSent: true, plugins: [likeGmail] }],
  ])('%s: no copy', async (_name, options) => {
    const mail = await startInProcessMail({ users: USERS, ...options });
    const connector = createEmailConnector();
    expect((await sender(connector, mail)()).sent_folder).toBeNull();
    for (const path of ['Sent', SENT]) expect(mail.imap.getMailbox(path)?.messages ?? []).toEqual([]);
    await connector.close?.();
    await closeTestContexts();
    await mail.stop();
  });
});
