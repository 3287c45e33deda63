// The tools against a real mail system. Where it is not installed, this file says so and holds no test.
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Connector, ToolContext } from '../connector.ts';
import { closeTestContexts, testContext } from '../test/tool-runner.ts';
import { createEmailConnector } from './connector.ts';
import type { EmailCredential } from './credential.ts';
import { connectImap } from './imap/connection.ts';
import type { Message } from './mime/message.ts';
import { itFindsAndMoves } from './test/folder-scenarios.ts';
import { appendRaw, callerOf, findArrived, plainMail } from './test/mail-setup.ts';
import { itReadsMime } from './test/mime-scenarios.ts';
import { missingForRealMail, type RealMailServer, startRealMail } from './test/real-mail-server.ts';
import { itDoesTheRoundTrip } from './test/round-trip-scenarios.ts';
import { itKeepsTheMailboxTidy } from './test/tidying-scenarios.ts';

const missing = missingForRealMail();
if (missing === null) describe('e-mail over Dovecot and OpenSMTPD', runAll);
else console.warn(`LEFT OUT: the round trip over Dovecot and OpenSMTPD (${missing})`);

const UTF8_BODY = '\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n';
const ODD_FOLDER = 'Entwürfe & Co/漢字';

function runAll(): void {
  let mail: RealMailServer;
  let tokenInfo: Server;
  let connector: Connector;
  let alice: ToolContext<EmailCredential>;
  let bob: ToolContext<EmailCredential>;

  function contextOf(user: string, from: string, secret: { password: string } | { access_token: string }) {
    const server = (port: number) => ({ host: '127.0.0.1', port, secure: false, user, ...secret });
    const credential: EmailCredential = {
      imap: server(mail.imapPort),
      smtp: server(mail.submissionPort),
      from,
    };
    const allow = [`127.0.0.1:${mail.imapPort}`, `127.0.0.1:${mail.submissionPort}`];
    return testContext({
      platform: 'email',
      credential,
      allow,
      customerId: user,
    }) as ToolContext<EmailCredential>;
  }

  beforeAll(async () => {
    tokenInfo = createServer((_request, response) => response.end('{"active":false}'));
    await new Promise<void>((resolve) => tokenInfo.listen(0, '127.0.0.1', resolve));
    const { port } = tokenInfo.address() as AddressInfo;
    const users = { 'alice@mail.test': 'pass-a', 'bob@mail.test': 'pass-b', 'carol@mail.test': 'pass-c' };
    mail = await startRealMail({ users, tokenInfoUrl: `http://127.0.0.1:${port}/?token=` });
    connector = createEmailConnector();
    alice = contextOf('alice@mail.test', 'Alice Ärmel <alice@mail.test>', { password: 'pass-a' });
    bob = contextOf('bob@mail.test', 'bob@mail.test', { password: 'pass-b' });
    const client = await connectImap(bob.credential.imap, bob);
    await client.mailboxCreate(ODD_FOLDER);
    await client.logout();
  });

  afterAll(async () => {
    await connector.close?.();
    await closeTestContexts();
    await mail.stop();
    await new Promise((resolve) => tokenInfo.close(resolve));
  });

  const setup = () => ({ connector, alice, bob, oddFolder: ODD_FOLDER });
  itDoesTheRoundTrip(setup);
  itFindsAndMoves(setup);
  itReadsMime(setup);
  itKeepsTheMailboxTidy(setup);

  it('never shows one account the other one’s mail', async () => {
    const call = callerOf(connector);
    await appendRaw(alice, { folder: 'INBOX', raw: plainMail('for Alice alone') });
    const page = await call<{ items: unknown[] }>(
      'email_search_messages',
      { subject: 'for Alice alone' },
      bob,
    );
    expect(page.items).toEqual([]);
  });

  it('finds words beyond ASCII, several in one search', async () => {
    const raw = plainMail('=?utf-8?Q?Gr=C3=B6=C3=9Fe?=', 'in 漢字').replace('\r\n\r\n', UTF8_BODY);
    await appendRaw(bob, { folder: 'INBOX', raw: Buffer.from(raw) });
    expect(await findArrived(connector, bob, { subject: 'größe', query: '漢字' })).toMatchObject({
      subject: 'Größe',
    });
    const page = await callerOf(connector)<{ items: unknown[] }>(
      'email_search_messages',
      { subject: 'größe', query: '漢語' },
      bob,
    );
    expect(page.items).toEqual([]);
  });

  it('leaves one copy of what was sent in the folder that Dovecot names for it', async () => {
    const call = callerOf(connector);
    const mail = { to: ['bob@mail.test'], subject: 'to be filed', text: 'x' };
    expect(await call('email_send_message', mail, alice)).toMatchObject({ sent_folder: 'Sent' });
    const filed = await call<{ items: { flags: string[] }[] }>(
      'email_search_messages',
      { folder: 'Sent', subject: 'to be filed' },
      alice,
    );
    expect(filed.items).toMatchObject([{ flags: ['seen'] }]);
  });

  it('sends and reads a large attachment in pages', { timeout: 60_000 }, async () => {
    const call = callerOf(connector);
    const bytes = randomBytes(5 * 1024 * 1024);
    const attachments = [
      {
        filename: 'large.bin',
        content_type: 'application/octet-stream',
        content_base64: bytes.toString('base64'),
      },
    ];
    await call(
      'email_send_message',
      { to: ['bob@mail.test'], subject: 'large one', text: 'x', attachments },
      alice,
    );
    const { uid } = await findArrived(connector, bob, 'large one');
    const message = await call<Message>('email_get_message', { folder: 'INBOX', uid }, bob);
    expect(message.attachments).toMatchObject([{ filename: 'large.bin', size: bytes.length }]);
    const pieces: Buffer[] = [];
    let offset: number | null = 0;
    while (offset !== null) {
      const part_id: string | undefined = message.attachments[0]?.part_id;
      const page: { content_base64: string; next_offset: number | null } = await call(
        'email_get_attachment',
        { folder: 'INBOX', uid, part_id, offset },
        bob,
      );
      pieces.push(Buffer.from(page.content_base64, 'base64'));
      offset = page.next_offset;
    }
    expect(pieces).toHaveLength(5);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  });
}
