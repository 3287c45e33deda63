import { expect, it } from 'vitest';
import type { Message } from '../mime/message.ts';
import type { Thread } from '../reading/threads.ts';
import { appendRaw, callerOf, findArrived, type MailSetup, type Page, plainMail } from './mail-setup.ts';

/** Drafts, threads, the trash and new folders, on whatever server. */
export function itKeepsTheMailboxTidy(setup: () => MailSetup): void {
  it('keeps a draft where drafts are, and sends nothing', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    const attachments = [{ filename: 'a.txt', content_type: 'text/plain', content_base64: 'YWJj' }];
    const args = { to: ['Älice <alice@mail.test>'], subject: 'an idea – ünsent', text: 'later', attachments };
    const draft = await call<{ folder: string; uid: number | null; message_id: string }>(
      'email_create_draft',
      { ...args, bcc: ['carol@mail.test'] },
      bob,
    );
    expect(draft.folder).toBe('Drafts');
    const found = await findArrived(connector, bob, { folder: 'Drafts', to: 'alice@mail.test' });
    if (draft.uid !== null) expect(found.uid).toBe(draft.uid);
    const read = await call<Message>('email_get_message', { folder: 'Drafts', uid: found.uid }, bob);
    expect(read).toMatchObject({ subject: args.subject, text: 'later', message_id: draft.message_id });
    expect(read.flags).toContain('draft');
    expect(read.attachments).toMatchObject([{ filename: 'a.txt', size: 3 }]);
    const empty = await call<{ folder: string }>('email_create_draft', {}, bob);
    expect(empty.folder).toBe('Drafts');
    const smuggled = call('email_create_draft', { subject: 'x\r\nBcc: eve@evil.test' }, bob);
    await expect(smuggled).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('lists conversations, newest first, in pages', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    const folder = (await call<{ path: string }>('email_create_folder', { name: 'Threads' }, bob)).path;
    const linked = (id: string, subject: string, headers = '') =>
      plainMail(subject).replace(/Message-ID: [^\r]*/, `Message-ID: <${id}@else.test>${headers}`);
    const mails = [
      linked('a1', 'plan A'),
      linked('b1', 'plan B'),
      linked('a2', 'Re: plan A', '\r\nIn-Reply-To: <a1@else.test>\r\nReferences: <a1@else.test>'),
      linked('c1', 'plan C'),
      linked('a3', 'Re: plan A', '\r\nReferences: <a1@else.test>\r\n <a2@else.test>'),
    ];
    for (const raw of mails) await appendRaw(bob, { folder, raw });
    const all = await call<Page<Thread>>('email_list_threads', { folder }, bob);
    expect(all.items.map(({ subject, messages }) => [subject, messages.length])).toEqual([
      ['plan A', 3],
      ['plan C', 1],
      ['plan B', 1],
    ]);
    expect(all.next_cursor).toBeNull();
    expect(all.items[0]).toMatchObject({
      unseen: 3,
      participants: ['Someone <someone@else.test>', 'bob@mail.test'],
    });
    const first = await call<Page<Thread>>('email_list_threads', { folder, limit: 2 }, bob);
    expect(first.items.map(({ subject }) => subject)).toEqual(['plan A', 'plan C']);
    const second = await call<Page<Thread>>(
      'email_list_threads',
      { folder, limit: 2, cursor: first.next_cursor },
      bob,
    );
    expect(second.items.map(({ subject }) => subject)).toContain('plan B');
    expect(second.next_cursor).toBeNull();
    const one = await call<Page<Thread>>('email_list_threads', { folder, subject: 'plan C' }, bob);
    expect(one.items).toHaveLength(1);
    const wrong = call('email_list_threads', { folder, cursor: 'bm90IG91cnM' }, bob);
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('deletes into the trash, once, and nothing that is not there', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    await appendRaw(bob, { folder: 'INBOX', raw: plainMail('to be deleted') });
    const { uid } = await findArrived(connector, bob, 'to be deleted');
    const args = { folder: 'INBOX', uids: [uid, 4_000_000_000] };
    expect(await call('email_delete_messages', args, bob)).toMatchObject({
      trash_folder: 'Trash',
      deleted: [{ uid }],
      missing: [4_000_000_000],
    });
    expect(await call('email_delete_messages', args, bob)).toMatchObject({ deleted: [], missing: args.uids });
    const there = await findArrived(connector, bob, { folder: 'Trash', subject: 'to be deleted' });
    const again = call('email_delete_messages', { folder: 'Trash', uids: [there.uid] }, bob);
    await expect(again).rejects.toMatchObject({ code: 'invalid_arguments' });
    await findArrived(connector, bob, { folder: 'Trash', subject: 'to be deleted' });
  });

  it('makes folders, in others too, and says when one was there', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    const made = await call<{ path: string; created: boolean }>(
      'email_create_folder',
      { name: 'Übersicht & mehr' },
      bob,
    );
    expect(made).toEqual({ path: 'Übersicht & mehr', created: true });
    const inner = { name: 'Café', parent_folder: made.path };
    const nested = await call<{ path: string; created: boolean }>('email_create_folder', inner, bob);
    expect(nested).toEqual({ path: 'Übersicht & mehr/Café', created: true });
    expect(await call('email_create_folder', inner, bob)).toEqual({ ...nested, created: false });
    const { items } = await call<Page<{ path: string }>>('email_list_folders', { limit: 100 }, bob);
    expect(items.map(({ path }) => path)).toEqual(expect.arrayContaining([made.path, nested.path]));
    for (const name of ['a/b', '../x', '*', 'a%', ' ', 'x\r\nA1 DELETE "INBOX"', 'a'.repeat(201)]) {
      const refused = call('email_create_folder', { name }, bob);
      await expect(refused, name).rejects.toMatchObject({ code: 'invalid_arguments' });
    }
    const nowhere = call('email_create_folder', { name: 'x', parent_folder: 'no such' }, bob);
    await expect(nowhere).rejects.toMatchObject({ code: 'invalid_arguments' });
  });
}
