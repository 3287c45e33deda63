// What a server says as it refuses to do something, and what is known then.
import { afterEach, describe, expect, it } from 'vitest';
import type { ImapReply } from './test/hostile-imap-server.ts';
import { createScriptedMailboxes, listed } from './test/scripted-mailboxes.ts';

const mailboxes = createScriptedMailboxes();
const { callerFor } = mailboxes;
afterEach(() => mailboxes.close());

const refusing =
  (words: string): ImapReply =>
  ({ tag, write }) =>
    write(`${tag} ${words}\r\n`);
const FULL = 'NO [OVERQUOTA] Mailbox is full';
const LIST = listed('() "/" INBOX', '() "/" Work', '(\\Trash) "/" Trash');
const uids = { folder: 'INBOX', uids: [1, 2] };
const move = { ...uids, target_folder: 'Work' };

describe('a server that refuses tells why (§5, platform_error with the platform’s own code)', () => {
  it.each<[string, string, object, string]>([
    ['UID MOVE', 'email_move_messages', move, 'to move the messages'],
    ['UID MOVE', 'email_delete_messages', uids, 'to move the messages'],
    ['UID STORE', 'email_update_flags', { ...uids, add: ['seen'] }, 'to set the flags'],
    ['UID STORE', 'email_update_flags', { ...uids, remove: ['seen'] }, 'to clear the flags'],
    ['UID SEARCH', 'email_search_messages', { query: 'x' }, 'to search'],
  ])('%s of %s', async (command, tool, args, what) => {
    const call = await callerFor({ LIST, [command]: refusing(FULL) });
    await expect(call(tool, args)).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: 'OVERQUOTA' },
      message: `the IMAP server refused ${what}: Mailbox is full`,
    });
    const busy = await callerFor({ LIST, [command]: refusing('NO [UNAVAILABLE] come back') });
    await expect(busy(tool, args)).rejects.toMatchObject({ code: 'platform_unavailable' });
    const words = 'BAD Request is throttled. Suggested Backoff Time: 1200 milliseconds';
    const throttled = await callerFor({ LIST, [command]: refusing(words) });
    await expect(throttled(tool, args)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 2 });
  });
});

it('a draft that is larger than the server keeps is refused, and nothing is open', async () => {
  const capabilities = 'CAPABILITY IMAP4rev1 UIDPLUS APPENDLIMIT=1000';
  const call = await callerFor({
    ...{ greeting: `* OK [${capabilities}] ready\r\n`, CAPABILITY: `* ${capabilities}\r\n` },
    ...{ LIST: listed('(\\Drafts) "/" Drafts'), 'UID SEARCH': '* SEARCH\r\n' },
  });
  await expect(call('email_create_draft', { text: 'word '.repeat(500) })).rejects.toMatchObject({
    ...{ code: 'platform_error', platformCode: 'APPENDLIMIT', outcomeOpen: false },
    message: 'the IMAP server keeps no message that is so large',
  });
});

describe('a move that ended half-way, on a server without MOVE', () => {
  it.each([
    ['UIDPLUS', 'UID STORE'],
    ['UIDPLUS', 'UID EXPUNGE'],
    ['', 'UID STORE'],
  ])('with %s and no right to %s says that there are two copies', async (extension, command) => {
    const capabilities = `CAPABILITY IMAP4rev1 NAMESPACE ${extension}`.trim();
    const call = await callerFor({
      ...{ greeting: `* OK [${capabilities}] ready\r\n`, CAPABILITY: `* ${capabilities}\r\n`, LIST },
      [command]: refusing('NO [NOPERM] not yours'),
    });
    await expect(call('email_move_messages', move)).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: 'NOPERM', outcomeOpen: true },
      message:
        'the IMAP server refused to remove the originals: not yours; the messages are in both folders now',
    });
  });
});
