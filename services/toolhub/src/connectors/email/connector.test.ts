// The tools against servers in this process: the round trip, and what a real server does only on a bad day.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { simpleParser } from 'mailparser';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeSelfSigned } from '../../../../../libs/egress/test/self-signed.ts';
import type { Connector, ToolContext } from '../connector.ts';
import { closeTestContexts, testContext } from '../test/tool-runner.ts';
import { createEmailConnector } from './connector.ts';
import type { EmailCredential } from './credential.ts';
import type { Message } from './mime/message.ts';
import { itFindsAndMoves } from './test/folder-scenarios.ts';
import { type InProcessMailServer, startInProcessMail } from './test/in-process-mail-server.ts';
import { callerOf, findArrived, type MailSetup, plainMail } from './test/mail-setup.ts';
import { itReadsMime } from './test/mime-scenarios.ts';
import { itDoesTheRoundTrip } from './test/round-trip-scenarios.ts';
import { itKeepsTheMailboxTidy } from './test/tidying-scenarios.ts';

const USERS = { 'alice@mail.test': 'pass-a', 'bob@mail.test': 'pass-b' };

function contextFor(
  mail: InProcessMailServer,
  overrides: Partial<Parameters<typeof testContext>[0]> & {
    user?: string;
    from?: string;
    secret?: object;
    secure?: boolean;
  } = {},
): ToolContext<EmailCredential> {
  const {
    user = 'bob@mail.test',
    from = user,
    secret = { password: USERS[user as keyof typeof USERS] },
    secure = false,
    ...rest
  } = overrides;
  const server = (port: number) => ({ host: '127.0.0.1', port, secure, user, ...secret });
  const credential = { imap: server(mail.imapPort), smtp: server(mail.smtpPort), from };
  const allow = [`127.0.0.1:${mail.imapPort}`, `127.0.0.1:${mail.smtpPort}`];
  return testContext({
    platform: 'email',
    credential,
    allow,
    customerId: user,
    ...rest,
  }) as ToolContext<EmailCredential>;
}

describe('e-mail in this process', () => {
  let mail: InProcessMailServer;
  let connector: Connector;
  let setup: MailSetup;

  beforeAll(async () => {
    mail = await startInProcessMail({ users: USERS });
    connector = createEmailConnector();
    setup = {
      connector,
      alice: contextFor(mail, { user: 'alice@mail.test', from: 'Alice Ärmel <alice@mail.test>' }),
      bob: contextFor(mail),
      oddFolder: 'Entwürfe & Co',
      serverFailsOn: ['{5}', '\\', '漢字'],
    };
  });
  afterAll(async () => {
    await connector.close?.();
    await closeTestContexts();
    await mail.stop();
  });

  itDoesTheRoundTrip(() => setup);
  itFindsAndMoves(() => setup);
  itReadsMime(() => setup);
  itKeepsTheMailboxTidy(() => setup);
});

describe('e-mail on a bad day', () => {
  const TOKENS = { 'bob@mail.test': 'good-token' };
  let mail: InProcessMailServer;
  let connector: Connector;

  beforeAll(async () => {
    mail = await startInProcessMail({ users: USERS, tokens: TOKENS });
  });
  beforeEach(() => {
    connector = createEmailConnector({ pool: { limits: { perAccount: 2, waitMs: 2_000 } } });
    mail.received.length = 0;
  });
  afterEach(async () => {
    await connector.close?.();
    await closeTestContexts();
  });
  afterAll(() => mail.stop());

  const send = (args: Record<string, unknown>, context = contextFor(mail)) =>
    callerOf(connector)<{ accepted: string[]; rejected: string[] }>(
      'email_send_message',
      { to: ['alice@mail.test'], subject: 's', text: 't', ...args },
      context,
    );

  it('refuses every way to slip in another header or recipient, and sends nothing', async () => {
    const file = { filename: 'a.txt', content_type: 'text/plain', content_base64: 'YQ==' };
    const attempts: Record<string, unknown>[] = [
      { subject: 'hi\r\nBcc: eve@evil.test' },
      { subject: 'hi\nBcc: eve@evil.test' },
      { to: ['alice@mail.test\r\nBcc: eve@evil.test'] },
      { to: ['alice@mail.test, eve@evil.test'] },
      { to: ['Group: a@mail.test, b@mail.test;'] },
      { to: ['alice@mail.test> RCPT TO:<eve@evil.test'] },
      { to: ['"a\r\nX: y" <alice@mail.test>'] },
      { to: ['alice'] },
      { to: [] },
      { cc: ['eve@evil.test\u2028Bcc: x@y.test'] },
      { text: undefined },
      { attachments: [{ ...file, filename: 'a"\r\nX-Evil: 1' }] },
      { attachments: [{ ...file, filename: '../a.txt' }] },
      { attachments: [{ ...file, content_type: 'text/plain\r\nX-Evil: 1' }] },
      { attachments: [{ ...file, content_type: 'message/rfc822' }] },
      { attachments: [{ ...file, content_base64: 'not base64!' }] },
    ];
    for (const attempt of attempts) {
      const args = Object.fromEntries(
        Object.entries({ to: ['alice@mail.test'], subject: 's', text: 't', ...attempt }).filter(
          ([, value]) => value !== undefined,
        ),
      );
      const refused = callerOf(connector)('email_send_message', args, contextFor(mail));
      await expect(refused, JSON.stringify(attempt)).rejects.toMatchObject({ code: 'invalid_arguments' });
    }
    expect(mail.received).toEqual([]);
  });

  it('keeps odd but honest content as content', async () => {
    await send({
      to: ['"Eve, the <b>Bold</b>" <alice@mail.test>'],
      subject: '=?utf-8?Q?not_encoded?= by us',
      text: 'a\r\n.\r\nMAIL FROM:<x@y.test>\r\n\nBcc: eve@evil.test\n',
    });
    expect(mail.received).toMatchObject([{ from: 'bob@mail.test', to: ['alice@mail.test'] }]);
    const parsed = await simpleParser(mail.received[0]?.raw ?? '');
    expect(parsed.text?.replaceAll('\r\n', '\n')).toBe('a\n.\nMAIL FROM:<x@y.test>\n\nBcc: eve@evil.test\n');
    expect(parsed.headers.has('bcc')).toBe(false);
  });

  it('replies to a hostile message without copying its header tricks', async () => {
    const call = callerOf(connector);
    const raw = plainMail('x')
      .replace('Subject: x', 'Subject: =?utf-8?Q?hello=0D=0ABcc=3A_eve=40evil.test?=')
      .replace(
        'Message-ID:',
        'References: <a@b> garbage <c\r\n @d> <e@f>\r\nReply-To: "=?utf-8?Q?x=0D=0ACc=3A?=" <reply@else.test>\r\nMessage-ID:',
      );
    mail.imap.appendMessage('INBOX', [], false, raw);
    const { uid } = await findArrived(connector, contextFor(mail), { from: 'someone@else.test' });
    await call('email_reply_message', { folder: 'INBOX', uid, text: 'no' }, contextFor(mail));
    const [reply] = mail.received;
    expect(reply?.to).toEqual(['reply@else.test']);
    const parsed = await simpleParser(reply?.raw ?? '');
    expect(parsed.subject).toBe('Re: hello Bcc: eve@evil.test');
    expect(parsed.headers.has('bcc')).toBe(false);
    expect([parsed.references].flat().slice(0, 2)).toEqual(['<a@b>', '<e@f>']);
  });

  it('tells what the SMTP server refused, and what it took', async () => {
    expect(await send({ to: ['alice@mail.test', 'nobody@mail.test'] })).toMatchObject({
      accepted: ['alice@mail.test'],
      rejected: ['nobody@mail.test'],
    });
    await expect(send({ to: ['nobody@mail.test'] })).rejects.toMatchObject({
      code: 'platform_error',
      platformCode: '550',
    });
    mail.failNext({ step: 'data', code: 552 });
    await expect(send({})).rejects.toMatchObject({ code: 'platform_error', platformCode: '552' });
    mail.failNext({ step: 'data', code: 451 });
    await expect(send({})).rejects.toMatchObject({ code: 'platform_unavailable' });
    mail.failNext({ step: 'drop' });
    await expect(send({})).rejects.toMatchObject({ code: 'platform_unavailable' });
    expect(mail.received).toHaveLength(1);
  });

  it('ends a call that is cancelled, and its connection', async () => {
    const abort = new AbortController();
    mail.failNext({ step: 'hang' });
    const sending = send({}, contextFor(mail, { signal: abort.signal }));
    await expect.poll(() => mail.unanswered()).toBe(1);
    abort.abort(new Error('cancelled by the caller'));
    await expect(sending).rejects.toThrow('cancelled by the caller');
    expect(mail.received).toEqual([]);
    const late = callerOf(connector)('email_list_folders', {}, contextFor(mail, { signal: abort.signal }));
    await expect(late).rejects.toThrow('cancelled by the caller');
  });

  it('tells a wrong password from an expired token', async () => {
    const list = (context: ToolContext<EmailCredential>) =>
      callerOf(connector)('email_list_folders', {}, context);
    const wrong = contextFor(mail, { secret: { password: 'wrong' } });
    await expect(list(wrong)).rejects.toMatchObject({
      code: 'platform_error',
      platformCode: 'AUTHENTICATIONFAILED',
    });
    await expect(send({}, wrong)).rejects.toMatchObject({ code: 'platform_error', platformCode: '535' });
    const good = contextFor(mail, { secret: { access_token: 'good-token' } });
    await list(good);
    await send({}, good);
    const expired = contextFor(mail, { secret: { access_token: 'old-token' } });
    await expect(list(expired)).rejects.toMatchObject({ code: 'token_expired' });
    await expect(send({}, expired)).rejects.toMatchObject({ code: 'token_expired' });
    expect(await connector.verify(good as ToolContext)).toEqual({
      kind: 'accepted',
      account: 'bob@mail.test',
    });
    expect(await connector.verify(wrong as ToolContext)).toMatchObject({ kind: 'rejected' });
    expect(await connector.health(good as ToolContext)).toEqual({ status: 'ok', message: null });
    expect(await connector.health(expired as ToolContext)).toMatchObject({ status: 'token_expired' });
    expect(await connector.health(wrong as ToolContext)).toMatchObject({ status: 'down' });
    expect(mail.received).toHaveLength(1);
  });

  it('shares few connections among many calls, and replaces those that died', async () => {
    const context = contextFor(mail);
    const call = callerOf(connector);
    const before = mail.imapAccepted();
    await Promise.all(Array.from({ length: 12 }, () => call('email_list_folders', {}, context)));
    expect(mail.imapAccepted() - before).toBe(2);
    mail.dropImapConnections();
    await Promise.all(Array.from({ length: 4 }, () => call('email_list_folders', {}, context)));
    await connector.close?.();
    await expect.poll(() => mail.imapConnections()).toBe(0);
  });

  it('refuses private addresses before it dials', async () => {
    const before = mail.imapAccepted();
    const context = contextFor(mail, { allow: [] });
    await expect(callerOf(connector)('email_list_folders', {}, context)).rejects.toMatchObject({
      code: 'address_refused',
    });
    await expect(send({}, context)).rejects.toMatchObject({ code: 'address_refused' });
    expect(mail.imapAccepted()).toBe(before);
  });

  it('says no password where the server offers no encryption', async () => {
    const context = contextFor(mail);
    // A public place: the operator did not allow plain text there.
    const strict = {
      ...context,
      guard: {
        resolve: async (target: { host: string; port: number }) => ({
          ...target,
          address: '127.0.0.1',
          family: 4 as const,
          mayBePlain: false,
        }),
      },
    };
    await expect(callerOf(connector)('email_list_folders', {}, strict)).rejects.toMatchObject({
      name: 'ConnectorError',
    });
    await expect(send({}, strict)).rejects.toMatchObject({ code: 'platform_error', platformCode: 'ETLS' });
    expect(mail.received).toEqual([]);
  });
});

describe('attachments that are made to hurt', () => {
  let mail: InProcessMailServer;
  let connector: Connector;

  beforeAll(async () => {
    mail = await startInProcessMail({ users: USERS });
    connector = createEmailConnector();
  });
  afterAll(async () => {
    await connector.close?.();
    await closeTestContexts();
    await mail.stop();
  });

  /** Puts a message into the mailbox and reads it. */
  async function read(subject: string, headers: string, body: string): Promise<Message & { uid: number }> {
    const raw = `From: eve@evil.test\r\nTo: bob@mail.test\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\n${headers}\r\n\r\n${body}`;
    mail.imap.appendMessage('INBOX', [], false, raw);
    const { uid } = await findArrived(connector, contextFor(mail), subject);
    return callerOf(connector)<Message>('email_get_message', { folder: 'INBOX', uid }, contextFor(mail));
  }

  const attachment = (type: string, encoding: string, content: string) =>
    `--b\r\nContent-Type: ${type}\r\nContent-Disposition: attachment; filename=bomb\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${content}\r\n`;
  const MIXED = 'Content-Type: multipart/mixed; boundary=b';
  // Packed twice, as the well-known ones are; nothing here may ever unpack even one layer.
  const bomb = gzipSync(gzipSync(Buffer.alloc(32 * 1024 * 1024)));

  it.each([
    ['application/zip', 'base64'],
    ['application/gzip', 'base64'],
    ['application/x-bzip2', 'base64'],
  ])('%s: a few bytes that would unpack to many stay a few bytes', async (type, encoding) => {
    const content = bomb.toString('base64').replaceAll(/.{76}/g, '$&\r\n');
    const before = process.memoryUsage().arrayBuffers;
    const message = await read(
      `zip of death ${type}`,
      MIXED,
      `${attachment(type, encoding, content)}--b--\r\n`,
    );
    expect(message.attachments).toMatchObject([{ filename: 'bomb', size: bomb.length }]);
    const page = await callerOf(connector)<{ content_base64: string; next_offset: number | null }>(
      'email_get_attachment',
      { folder: 'INBOX', uid: message.uid, part_id: message.attachments[0]?.part_id },
      contextFor(mail),
    );
    expect(Buffer.from(page.content_base64, 'base64').equals(bomb)).toBe(true);
    expect(page.next_offset).toBeNull();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });

  it('gives a page of 1 MiB at most, whatever is asked for, so that writing one result holds up nobody', async () => {
    const bytes = Buffer.alloc(1.5 * 1024 * 1024, 'long ');
    const content = bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n');
    const message = await read(
      'long one',
      MIXED,
      `${attachment('application/zip', 'base64', content)}--b--\r\n`,
    );
    const part = { folder: 'INBOX', uid: message.uid, part_id: message.attachments[0]?.part_id };
    for (const asked of [{}, { max_bytes: 4 * 1024 * 1024 }]) {
      const page = await callerOf(connector)<{ content_base64: string; next_offset: number | null }>(
        'email_get_attachment',
        { ...part, ...asked },
        contextFor(mail),
      );
      expect(Buffer.from(page.content_base64, 'base64').equals(bytes.subarray(0, 1024 * 1024))).toBe(true);
      expect(page.next_offset).toBe(1024 * 1024);
    }
  });

  it('a compression that no standard knows is not undone', async () => {
    const packed = gzipSync(Buffer.alloc(1024)).toString('base64');
    const message = await read(
      'odd encoding',
      `${MIXED}\r\nContent-Encoding: gzip`,
      `${attachment('text/plain', 'x-gzip64', packed)}--b--\r\n`,
    );
    const page = await callerOf(connector)<{ content_base64: string }>(
      'email_get_attachment',
      { folder: 'INBOX', uid: message.uid, part_id: message.attachments[0]?.part_id },
      contextFor(mail),
    );
    expect(Buffer.from(page.content_base64, 'base64').toString().trim()).toBe(packed);
  });

  it('hundreds of parts are listed in part', async () => {
    const parts = attachment('application/zip', 'base64', 'UEsDBA==').repeat(300);
    const message = await read('a crowd of parts', MIXED, `${parts}--b--\r\n`);
    expect(message.attachments).toHaveLength(100);
    expect(message.truncated).toBe(true);
  });
});

describe('e-mail on a server with neither MOVE nor UIDPLUS', () => {
  it('moves without destroying what others marked as deleted', async () => {
    const mail = await startInProcessMail({ users: USERS, plugins: [] });
    const connector = createEmailConnector();
    const call = callerOf(connector);
    mail.imap.appendMessage('INBOX', ['\\Deleted'], false, plainMail('marked by someone else'));
    mail.imap.appendMessage('INBOX', [], false, plainMail('ours'));
    const context = contextFor(mail);
    const { uid } = await findArrived(connector, context, 'ours');
    const args = { folder: 'INBOX', uids: [uid], target_folder: 'Archive' };
    expect(await call('email_move_messages', args, context)).toMatchObject({
      moved: [{ uid, new_uid: null }],
    });
    expect(mail.imap.getMailbox('Archive')?.messages).toHaveLength(1);
    const left = mail.imap.getMailbox('INBOX')?.messages.map(({ flags }) => flags);
    expect(left).toEqual([['\\Deleted'], ['\\Deleted']]);
    await connector.close?.();
    await closeTestContexts();
    await mail.stop();
  });
});

describe('e-mail over TLS', () => {
  const { cert, key } = makeSelfSigned(['mail.example']);
  let mail: InProcessMailServer;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mail-tls-'));
    await writeFile(join(folder, 'ca.pem'), cert);
    mail = await startInProcessMail({ users: USERS, tls: { cert, key } });
  });
  afterAll(async () => {
    await mail.stop();
    await rm(folder, { recursive: true });
  });

  it('refuses a certificate that nobody vouches for', async () => {
    const connector = createEmailConnector();
    const context = contextFor(mail, { secure: true });
    const refused = { code: 'platform_error', platformCode: 'DEPTH_ZERO_SELF_SIGNED_CERT' };
    await expect(callerOf(connector)('email_list_folders', {}, context)).rejects.toMatchObject(refused);
    const message = { to: ['alice@mail.test'], subject: 'tls', text: 't' };
    await expect(callerOf(connector)('email_send_message', message, context)).rejects.toMatchObject(refused);
    expect(mail.received).toEqual([]);
    await closeTestContexts();
  });

  it('dials the checked address and verifies the name that the customer gave', {
    timeout: 60_000,
  }, async () => {
    const script = fileURLToPath(new URL('./test/tls-client.ts', import.meta.url));
    const args = [script, String(mail.imapPort), String(mail.smtpPort)];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(JSON.parse(stdout)).toEqual({
      'mail.example': ['ok', 'ok'],
      'other.example': [
        'platform_error ERR_TLS_CERT_ALTNAME_INVALID',
        'platform_error ERR_TLS_CERT_ALTNAME_INVALID',
      ],
    });
    expect(mail.received).toHaveLength(1);
  });
});
