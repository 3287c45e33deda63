import { expect, it } from 'vitest';
import type { MessageSummary } from '../mime/message.ts';
import { appendRaw, callerOf, findArrived, type MailSetup, type Page, plainMail } from './mail-setup.ts';

/** Messages that lie in folders: marked, moved, searched and gone through, on whatever server. */
export function itFindsAndMoves(setup: () => MailSetup): void {
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

  it('leaves a message as it is that is moved to where it lies', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    await appendRaw(bob, { folder: 'INBOX', raw: plainMail('to stay') });
    const { uid } = await findArrived(connector, bob, 'to stay');
    for (const target_folder of ['INBOX', 'Inbox'])
      expect(
        await call(
          'email_move_messages',
          { folder: 'inbox', uids: [uid, 4_000_000_000], target_folder },
          bob,
        ),
      ).toMatchObject({ moved: [{ uid, new_uid: uid }], missing: [4_000_000_000] });
    const { items } = await call<Page<MessageSummary>>('email_search_messages', { subject: 'to stay' }, bob);
    expect(items.map((message) => message.uid)).toEqual([uid]);
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
