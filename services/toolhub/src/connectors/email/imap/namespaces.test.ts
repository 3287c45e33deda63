// Folders that lie below a prefix, and those beside them, which belong to others or to all.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Connector, ToolContext } from '../../connector.ts';
import { closeTestContexts, testContext } from '../../test/tool-runner.ts';
import { createEmailConnector } from '../connector.ts';
import type { EmailCredential } from '../credential.ts';
import type { MessageSummary } from '../mime/message.ts';
import type { ImapScript } from '../test/hostile-imap-server.ts';
import { appendRaw, callerOf, findArrived, type Page, plainMail } from '../test/mail-setup.ts';
import { missingForRealMail, type RealMailServer, startRealMail } from '../test/real-mail-server.ts';
import { createScriptedMailboxes, listed as list } from '../test/scripted-mailboxes.ts';

type Folders = Page<{ path: string; special_use: string | null; messages: number | null }>;

const missing = missingForRealMail({ delivery: false });
if (missing === null) describe('folders below a prefix on Dovecot', onDovecot);
else console.warn(`LEFT OUT: folders below a prefix on Dovecot (${missing})`);

function onDovecot(): void {
  let mail: RealMailServer;
  let connector: Connector;
  let alice: ToolContext<EmailCredential>;

  beforeAll(async () => {
    const users = { 'alice@mail.test': 'pass-a' };
    mail = await startRealMail({
      users,
      // Nobody logs in with a token here, so nobody is asked about one.
      ...{ tokenInfoUrl: 'http://127.0.0.1:1/?token=', delivery: false, isPrefixed: true },
    });
    connector = createEmailConnector();
    const place = { host: '127.0.0.1', port: mail.imapPort, secure: false };
    const imap = { ...place, user: 'alice@mail.test', password: 'pass-a' };
    const credential = { imap, smtp: imap, from: 'alice@mail.test' };
    const allow = [`127.0.0.1:${mail.imapPort}`];
    alice = testContext({ platform: 'email', credential, allow }) as ToolContext<EmailCredential>;
  });
  afterAll(async () => {
    await connector.close?.();
    await closeTestContexts();
    await mail.stop();
  });

  it('are listed with those beside them, each by the path that the server has for it', async () => {
    const { items } = await callerOf(connector)<Folders>('email_list_folders', {}, alice);
    expect(items.map(({ path, special_use }) => [path, special_use])).toEqual([
      ['INBOX', 'inbox'],
      ['INBOX.Sent', 'sent'],
      // What the server keeps out of its list serves for nothing.
      ['Kept.2025', null],
      ['Kept.Bin', null],
      ['Public', null],
      ['Public.Bin', 'trash'],
      // The drafts of all are not those of this one.
      ['Public.Drafts', null],
    ]);
    expect(items.map(({ messages }) => messages)).toEqual([0, 0, 0, 0, null, 0, 0]);
  });

  it.each(['Public.Drafts', 'INBOX.Sent', 'Sent', 'Kept.2025'])(
    'are opened and moved into: %s',
    async (folder) => {
      const call = callerOf(connector);
      const subject = `into ${folder}`;
      await appendRaw(alice, { folder: 'INBOX', raw: plainMail(subject) });
      const { uid } = await findArrived(connector, alice, subject);
      const args = { folder: 'INBOX', uids: [uid], target_folder: folder };
      expect(await call('email_move_messages', args, alice)).toMatchObject({
        target_folder: folder,
        moved: [{ uid }],
      });
      const there = await call<Page<MessageSummary>>('email_search_messages', { folder, subject }, alice);
      expect(there.items).toMatchObject([{ folder, subject }]);
      const flagged = { folder, uids: [there.items[0]?.uid], add: ['flagged'] };
      expect(await call('email_update_flags', flagged, alice)).toMatchObject({ messages: [{}], missing: [] });
    },
  );

  it('are told of where there are none, in either form', async () => {
    const call = callerOf(connector);
    for (const folder of ['Nowhere', 'INBOX.Nowhere', 'Public.Nowhere', 'Kept.Nowhere', 'Bin']) {
      const refusal = { code: 'invalid_arguments', message: `there is no folder ${JSON.stringify(folder)}` };
      await expect(call('email_search_messages', { folder }, alice)).rejects.toMatchObject(refusal);
    }
  });

  it('take what is deleted where the server names the trash', async () => {
    await appendRaw(alice, { folder: 'INBOX', raw: plainMail('to be deleted') });
    const { uid } = await findArrived(connector, alice, 'to be deleted');
    const deleted = { trash_folder: 'Public.Bin', deleted: [{ uid }] };
    const args = { folder: 'INBOX', uids: [uid] };
    expect(await callerOf(connector)('email_delete_messages', args, alice)).toMatchObject(deleted);
    await findArrived(connector, alice, { folder: 'Public.Bin', subject: 'to be deleted' });
  });

  it('are made below the prefix, and below whatever folder is named', async () => {
    const call = callerOf(connector);
    const made = async (args: object) => call<object>('email_create_folder', { ...args }, alice);
    expect(await made({ name: 'Büro' })).toEqual({ path: 'INBOX.Büro', created: true });
    expect(await made({ name: 'Büro' })).toEqual({ path: 'INBOX.Büro', created: false });
    const parents = ['INBOX.Büro', 'Büro', 'Public.Drafts', 'Kept.2025'];
    const paths = parents.map((parent_folder, index) => made({ name: `in ${index}`, parent_folder }));
    expect(await Promise.all(paths)).toEqual([
      { path: 'INBOX.Büro.in 0', created: true },
      { path: 'INBOX.Büro.in 1', created: true },
      { path: 'Public.Drafts.in 2', created: true },
      { path: 'Kept.2025.in 3', created: true },
    ]);
  });
}

describe('folders of others', () => {
  const mailboxes = createScriptedMailboxes();
  afterEach(() => mailboxes.close());

  async function listUses(script: ImapScript): Promise<(string | null)[][]> {
    const call = await mailboxes.callerFor(script);
    const { items } = await call<Folders>('email_list_folders', {});
    return items.map(({ path, special_use }) => [path, special_use]);
  }

  it('are not taken for the account’s own by what they are called', async () => {
    const NAMESPACE = '* NAMESPACE (("" "/")) (("Users/" "/")) (("&ANY-ffentlich/" "/"))\r\n';
    const LIST = list('() "/" Users/ben/Sent', '() "/" &ANY-ffentlich/Trash', '() "/" Archive/Drafts');
    expect(await listUses({ NAMESPACE, LIST })).toEqual([
      ['INBOX', 'inbox'],
      ['Archive/Drafts', 'drafts'],
      ['Users/ben/Sent', null],
      ['Öffentlich/Trash', null],
    ]);
  });

  it('serve where they are shared and the server names none of the account’s own', async () => {
    const NAMESPACE = '* NAMESPACE (("INBOX." ".")) (("user." ".")) (("" "."))\r\n';
    const LIST = list(
      '(\\Sent) "." Post',
      '(\\Sent) "." INBOX.a.b.Sent',
      '(\\Trash) "." Bin',
      '(\\Drafts) "." user.ben.Drafts',
    );
    expect(await listUses({ NAMESPACE, LIST })).toEqual([
      ['INBOX', 'inbox'],
      ['Bin', 'trash'],
      ['INBOX.a.b.Sent', 'sent'],
      ['Post', null],
      ['user.ben.Drafts', null],
    ]);
  });

  it('are asked for by name where the list of all lacks them, whatever a server makes of that', async () => {
    const NAMESPACE =
      '* NAMESPACE (("" "/")) (("~*/" "/")) (("#shared." ".")("#news." ".")("#mad." ".")("&-x." "."))\r\n';
    const all = list('() "/" Work');
    const below: Record<string, string> = {
      '#shared.': list('() "." #shared.team', '(\\Trash) "." #shared.Bin'),
      // One that knows no references lists everything again.
      '#news.': all,
      '&-x.': list('() "." &-x.y'),
    };
    const asked: string[] = [];
    const LIST: ImapScript[string] = async ({ tag, line, write, ok }) => {
      const reference = /LIST "?([^" ]*)"? "?\*"?$/.exec(line)?.[1] ?? '';
      asked.push(reference);
      if (reference === '#mad.') return write(`${tag} NO what\r\n`);
      await write(reference === '' ? all : (below[reference] ?? ''));
      await ok();
    };
    expect(await listUses({ NAMESPACE, LIST })).toEqual([
      ['INBOX', 'inbox'],
      ['#shared.Bin', null],
      ['#shared.team', null],
      ['&x.y', null],
      ['Work', null],
    ]);
    expect(asked).toEqual(['', '#shared.', '#news.', '#mad.', '&-x.']);
  });
});
