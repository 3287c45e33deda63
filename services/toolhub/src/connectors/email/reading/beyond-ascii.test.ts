// Searching for letters that a server does not know, as those of Microsoft know none beyond ASCII.
import { afterEach, describe, expect, it } from 'vitest';
import type { MessageSummary } from '../mime/message.ts';
import { fetchAnswer, type ImapScript } from '../test/hostile-imap-server.ts';
import type { Page } from '../test/mail-setup.ts';
import { createScriptedMailboxes } from '../test/scripted-mailboxes.ts';
import type { Thread } from './threads.ts';

const mailboxes = createScriptedMailboxes();
afterEach(() => mailboxes.close());

const words = (text: string) => `"=?utf-8?B?${Buffer.from(text).toString('base64')}?="`;
const person = (name: string, user: string) => `((${words(name)} NIL "${user}" "mail.test"))`;

/** By number: the subject, who wrote it, and to whom. */
const MAILS: readonly [subject: string, from: string, to: string][] = [
  ['Rechnung für März', 'Jörg', 'Eve'],
  ['RECHNUNG FÜR APRIL', 'Zoë', 'Jörg'],
  ['Invoice', 'Jo\u0308rg', 'Eve'],
];

function envelopeOf([subject, from, to]: (typeof MAILS)[number], uid: number): string {
  const [writer, reader] = [person(from, 'a'), person(to, 'b')];
  return `("Mon, 02 Nov 2026 10:00:00 +0000" ${words(subject)} ${writer} ${writer} ${writer} ${reader} NIL NIL NIL "<${uid}@mail.test>")`;
}

function microsoft(asked: string[]): ImapScript {
  return {
    'UID SEARCH': async ({ tag, line, write, ok }) => {
      asked.push(line.replace(/^\S+ /, ''));
      if (line.includes('CHARSET'))
        return write(`${tag} NO [BADCHARSET (US-ASCII)] The specified charset is not supported.\r\n`);
      await write('* SEARCH 1 2 3\r\n');
      await ok();
    },
    'UID FETCH': async ({ line, write, ok }) => {
      const uids = /UID FETCH (\S+)/.exec(line)?.[1]?.split(',') ?? [];
      for (const uid of uids.map(Number))
        await write(
          fetchAnswer(uid, { envelope: envelopeOf(MAILS[uid - 1] as (typeof MAILS)[number], uid) }),
        );
      await ok();
    },
  };
}

describe('a search for letters that the server does not know', () => {
  it.each([
    [{ subject: 'für' }, [2, 1]],
    [{ subject: 'fu\u0308r APRIL' }, [2]],
    [{ from: 'JÖRG' }, [3, 1]],
    [{ to: 'Jörg <b@mail.test>' }, [2]],
    [{ from: 'Zoë', subject: 'März' }, []],
  ])('finds them in what each message shows of itself: %j', async (args, uids) => {
    const asked: string[] = [];
    const call = await mailboxes.callerFor(microsoft(asked));
    const searched = await call<Page<MessageSummary>>('email_search_messages', { ...args, unseen: true });
    expect(searched.items.map(({ uid }) => uid)).toEqual(uids);
    expect(asked.at(-1)).toBe('UID SEARCH UNSEEN UID 1:3');
    const listed = await call<Page<Thread>>('email_list_threads', args);
    expect(listed.items.map(({ messages }) => messages[0]?.uid)).toEqual(uids);
  });

  it('goes on where a page ended', async () => {
    const call = await mailboxes.callerFor(microsoft([]));
    const page = (cursor?: string) =>
      call<Page<MessageSummary>>('email_search_messages', {
        ...{ subject: 'für', limit: 1 },
        ...(cursor === undefined ? {} : { cursor }),
      });
    const first = await page();
    const second = await page(first.next_cursor ?? '');
    expect([first, second].map(({ items }) => items.map(({ uid }) => uid))).toEqual([[2], [1]]);
  });

  it('says so where they could be anywhere in a message, and of a refusal for another reason', async () => {
    const call = await mailboxes.callerFor(microsoft([]));
    await expect(call('email_search_messages', { query: 'für' })).rejects.toMatchObject({
      ...{ code: 'platform_error', message: expect.stringContaining('look in from, to or subject') },
    });
    const refusing = await mailboxes.callerFor({
      'UID SEARCH': ({ tag, write }) => write(`${tag} NO not today\r\n`),
    });
    for (const subject of ['fur', 'für'])
      await expect(refusing('email_search_messages', { subject })).rejects.toMatchObject({
        ...{ code: 'platform_error', message: 'the IMAP server refused to search: not today' },
      });
  });
});
