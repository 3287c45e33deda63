// Days are those of UTC, wherever the server's clock stands.
import { afterEach, describe, expect, it } from 'vitest';
import { fetchAnswer, type ImapReply } from '../test/hostile-imap-server.ts';
import { createScriptedMailboxes } from '../test/scripted-mailboxes.ts';

const mailboxes = createScriptedMailboxes();
const { callerFor } = mailboxes;
afterEach(() => mailboxes.close());

/** When three messages arrived, as a server in Japan writes it: the 1st at 14:59, the 1st at 15:00 and the 2nd at 15:00 in UTC. */
const ARRIVED = [
  '"01-Nov-2026 23:59:00 +0900"',
  '"02-Nov-2026 00:00:00 +0900"',
  '"03-Nov-2026 00:00:00 +0900"',
];
const DAY = [1, 2, 3];

/** Finds by the days of its own clock alone. */
const search: ImapReply = async ({ line, write, ok }) => {
  const dayOf = (name: string) => Number(new RegExp(`${name} (\\d+)-Nov-2026`).exec(line)?.[1] ?? Number.NaN);
  const [since, before] = [dayOf('SINCE'), dayOf('BEFORE')];
  const found = DAY.filter((day) => !(day < since) && !(day >= before));
  await write(`* SEARCH ${found.join(' ')}\r\n`);
  await ok();
};
const fetch: ImapReply = async ({ write, ok }) => {
  for (const [index, arrived] of ARRIVED.entries())
    await write(fetchAnswer(index + 1).replace(/(?<=INTERNALDATE )"[^"]*"/, arrived));
  await ok();
};

describe('a server in Japan that knows days alone', () => {
  it.each([
    [{ since: '2026-11-01', before: '2026-11-02' }, [2, 1]],
    [{ since: '2026-11-02', before: '2026-11-03' }, [3]],
    [{ since: '2026-11-02' }, [3]],
    [{ before: '2026-11-02' }, [2, 1]],
    [{ since: '2026-11-03' }, []],
    [{}, [3, 2, 1]],
  ])('finds what arrived within %j', async (days, uids) => {
    const call = await callerFor({ 'UID SEARCH': search, 'UID FETCH': fetch });
    const found = await call<{ items: { uid: number }[] }>('email_search_messages', days);
    expect(found.items.map(({ uid }) => uid)).toEqual(uids);
    const listed = await call<{ items: { messages: { uid: number }[] }[] }>('email_list_threads', days);
    expect(listed.items.flatMap(({ messages }) => messages.map(({ uid }) => uid))).toEqual(uids);
  });
});
