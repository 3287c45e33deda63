// Folders whose names are not in IMAP's encoding, and so read as others.
import { afterEach, describe, expect, it } from 'vitest';
import { createScriptedMailboxes, listed as list } from '../test/scripted-mailboxes.ts';

const mailboxes = createScriptedMailboxes();
const { callerFor } = mailboxes;
afterEach(() => mailboxes.close());

describe('a folder whose name is not in IMAP’s encoding', () => {
  it('is shown as the server wrote it, cannot be opened, and is nobody’s trash', async () => {
    const call = await callerFor({
      LIST: list(
        '() "/" Inbox',
        '() "/" R&D',
        '() "/" R',
        '() "/" R&-D',
        '() "/" Work/&AOQ-&APY-',
        '() "/" "/&AOQA9g-"',
        '(\\Trash) "/" &AGEAYg-',
      ),
    });
    type Item = { path: string; name: string; selectable: boolean; special_use: string | null };
    const { items } = await call<{ items: Item[] }>('email_list_folders', {});
    const shown = items.map(({ path, name, selectable, special_use }) => [
      path,
      name,
      selectable,
      special_use,
    ]);
    expect(shown).toEqual([
      ['INBOX', 'INBOX', true, 'inbox'],
      ['&AGEAYg-', '&AGEAYg-', false, null],
      ['R', 'R', true, null],
      ['R&D', 'R&D', false, null],
      ['R&D', 'R&D', true, null],
      ['Work/&AOQ-&APY-', '&AOQ-&APY-', false, null],
      ['äö', 'äö', true, null],
    ]);
    const deletion = call('email_delete_messages', { folder: 'INBOX', uids: [1] });
    await expect(deletion).rejects.toMatchObject({ platformCode: 'NONEXISTENT' });
  });

  it('is none to move to or to make one in, under neither name', async () => {
    const changes: string[] = [];
    const call = await callerFor({
      LIST: list('() "/" INBOX', '() "/" R&D'),
      'UID MOVE': ({ line, ok }) => {
        changes.push(line);
        return ok();
      },
      CREATE: ({ line, ok }) => {
        changes.push(line);
        return ok();
      },
    });
    for (const folder of ['R', 'R&D']) {
      const refusal = { code: 'invalid_arguments', message: `there is no folder ${JSON.stringify(folder)}` };
      const args = { folder: 'INBOX', uids: [1], target_folder: folder };
      await expect(call('email_move_messages', args)).rejects.toMatchObject(refusal);
      const inner = { name: 'x', parent_folder: folder };
      await expect(call('email_create_folder', inner)).rejects.toMatchObject(refusal);
    }
    expect(changes).toEqual([]);
    expect(await call('email_create_folder', { name: 'R' })).toEqual({ path: 'R', created: true });
  });
});
