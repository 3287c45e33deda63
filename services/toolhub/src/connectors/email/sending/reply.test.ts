// Replies to messages whose headers are longer than those of most.
import { simpleParser } from 'mailparser';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Connector, ToolContext } from '../../connector.ts';
import { closeTestContexts, testContext } from '../../test/tool-runner.ts';
import { createEmailConnector } from '../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { type InProcessMailServer, startInProcessMail } from '../test/in-process-mail-server.ts';
import { callerOf, findArrived, plainMail } from '../test/mail-setup.ts';

const USERS = { 'bob@mail.test': 'pass-b' };
const CROWD = Array.from({ length: 600 }, (_, index) => `${'p'.repeat(120)}${index}@crowd.test`).join(
  ',\r\n ',
);

describe('a reply', () => {
  let mail: InProcessMailServer;
  let connector: Connector;

  beforeAll(async () => {
    mail = await startInProcessMail({ users: USERS });
  });
  beforeEach(() => {
    connector = createEmailConnector();
    mail.received.length = 0;
  });
  afterEach(async () => {
    await connector.close?.();
    await closeTestContexts();
  });
  afterAll(() => mail.stop());

  function context(): ToolContext<EmailCredential> {
    const server = (port: number) => ({
      ...{ host: '127.0.0.1', port, secure: false, user: 'bob@mail.test', password: 'pass-b' },
    });
    const credential = { imap: server(mail.imapPort), smtp: server(mail.smtpPort), from: 'bob@mail.test' };
    const allow = [`127.0.0.1:${mail.imapPort}`, `127.0.0.1:${mail.smtpPort}`];
    return testContext({ platform: 'email', credential, allow }) as ToolContext<EmailCredential>;
  }

  async function replyTo(raw: string, wanted: object, args: object = {}): Promise<void> {
    mail.imap.appendMessage('INBOX', [], false, raw);
    const { uid } = await findArrived(connector, context(), { ...wanted });
    await callerOf(connector)(
      'email_reply_message',
      { folder: 'INBOX', uid, text: 'thanks', ...args },
      context(),
    );
  }

  it('reaches who wrote to more people than an envelope may name, in the thread', async () => {
    const raw = plainMail('=?utf-8?Q?gr=C3=BCn?=')
      .replace('To: bob@mail.test', `To: ${CROWD}`)
      .replace('someone@else.test', 'announcer@else.test')
      .replace(/Message-ID: .*/, 'References: <root@else.test>\r\nMessage-ID: <crowd@else.test>');
    await replyTo(raw, { from: 'announcer@else.test' });
    expect(mail.received).toMatchObject([{ to: ['announcer@else.test'] }]);
    const sent = await simpleParser(mail.received[0]?.raw ?? '');
    expect([sent.subject, sent.inReplyTo]).toEqual(['Re: grün', '<crowd@else.test>']);
    expect(sent.references).toEqual(['<root@else.test>', '<crowd@else.test>']);
    const toAll = replyTo(raw, { from: 'announcer@else.test' }, { reply_all: true });
    await expect(toAll).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('too long to read who got it'),
    });
    expect(mail.received).toHaveLength(1);
  });

  it('does not go to its own writer where nobody can tell who got the message', async () => {
    const raw = plainMail('mine')
      .replace('To: bob@mail.test', `To: ${CROWD}`)
      .replace('Someone <someone@else.test>', 'bob@mail.test');
    await expect(replyTo(raw, { from: 'bob@mail.test' })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
    expect(mail.received).toEqual([]);
  });

  it.each([
    ['plain', 'Long Name '.repeat(60)],
    ['quoted', `"${'a, b. '.repeat(100)}"`],
  ])('reaches a sender with a display name that is too long for an entry: %s', async (kind, name) => {
    const address = `named-${kind}@else.test`;
    await replyTo(plainMail('named').replace('Someone <someone@else.test>', `${name} <${address}>`), {
      from: address,
    });
    expect(mail.received).toMatchObject([{ to: [address] }]);
    expect(mail.received[0]?.raw).toMatch(kind === 'plain' ? /To: Long Name Long/ : /To: "a, b\. a/);
  });

  it.each([
    ['in an envelope', 'bob@mail.test', 'Enveloped <enveloped doe@else.test>'],
    ['in a header that is read by itself', CROWD, 'torn doe@else.test'],
  ])('goes to nobody whose address is only a part of what the sender wrote: %s', async (_, to, from) => {
    const raw = plainMail('torn')
      .replace('To: bob@mail.test', `To: ${to}`)
      .replace('Someone <someone@else.test>', from);
    await expect(replyTo(raw, { from: from.split(' ')[0] })).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: 'the message has no sender to reply to',
    });
    expect(mail.received).toEqual([]);
  });

  it('goes to nobody where the message names no sender, whoever else got it', async () => {
    const raw = plainMail('senderless')
      .replace('To: bob@mail.test', 'To: bob@mail.test, carol@else.test')
      .replace('From: Someone <someone@else.test>\r\n', '');
    for (const reply_all of [false, true])
      await expect(replyTo(raw, { subject: 'senderless' }, { reply_all })).rejects.toMatchObject({
        code: 'invalid_arguments',
        message: 'the message has no sender to reply to',
      });
    expect(mail.received).toEqual([]);
  });

  it.each([
    [
      'whoever wrote it, where answers are wanted at one’s own address',
      'al@else.test',
      'bob@mail.test',
      'al',
    ],
    [
      'where answers are wanted, also if one’s own address wrote it',
      'bob@mail.test',
      'form@else.test',
      'form',
    ],
    ['those who got it, where one wrote it oneself', 'bob@mail.test', 'bob@mail.test', 'carol'],
  ])('goes to %s', async (title, from, answerTo, reached) => {
    const subject = title.replaceAll(/[^a-z]+/g, '-');
    const raw = plainMail(subject)
      .replace('To: bob@mail.test', `Reply-To: ${answerTo}\r\nTo: bob@mail.test, carol@else.test`)
      .replace('Someone <someone@else.test>', from);
    await replyTo(raw, { subject });
    expect(mail.received).toMatchObject([{ to: [`${reached}@else.test`] }]);
  });

  it.each([
    ['one who wants answers at several places', 'Bob <Bob@Mail.test>, al@else.test', 'al@else.test'],
    ['a mailbox that stands there in two spellings', 'al@else.test, Al <AL@else.test>', 'al@else.test'],
  ])('goes neither to its own writer nor twice to %s', async (title, answerTo, reached) => {
    const subject = title.replaceAll(/[^a-z]+/g, '-');
    const raw = plainMail(subject).replace(
      'To: bob@mail.test',
      `Reply-To: ${answerTo}\r\nTo: bob@mail.test, AL@else.test, carol@else.test`,
    );
    await replyTo(raw, { subject });
    await replyTo(raw, { subject }, { reply_all: true });
    expect(mail.received).toMatchObject([{ to: [reached] }, { to: [reached, 'carol@else.test'] }]);
    for (const { raw: sent } of mail.received) expect(sent).toMatch(/^To: al@else\.test\r$/m);
  });

  it('goes to the others where one is among several who wrote the message', async () => {
    const raw = plainMail('by-two').replace('Someone <someone@else.test>', 'bob@mail.test, al@else.test');
    await replyTo(raw, { subject: 'by-two' });
    expect(mail.received).toMatchObject([{ to: ['al@else.test'] }]);
  });

  it('to one’s own mail names each of those who got it once', async () => {
    const raw = plainMail('mine-twice')
      .replace('Someone <someone@else.test>', 'bob@mail.test')
      .replace('To: bob@mail.test', 'To: Carol <carol@else.test>, CAROL@else.test');
    await replyTo(raw, { subject: 'mine-twice' });
    expect(mail.received).toMatchObject([{ to: ['carol@else.test'] }]);
    expect(mail.received[0]?.raw).toMatch(/^To: Carol <carol@else\.test>\r$/m);
  });
});
