// A server may tell of any message at any time, and in as many answers as it likes (RFC 3501 7.4.2): whatever it adds, splits
// and mixes, each tool answers as it would have without that.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ImapIo, PLAIN_STRUCTURE } from '../test/hostile-imap-server.ts';
import { type CallTool, createScriptedMailboxes } from '../test/scripted-mailboxes.ts';

const UIDS = [11, 12, 13];
const FLAGS = ['\\Flagged', '', '\\Seen'];
const RUNS = 60;

/** Where an answer is parted, whether its parts say their number again, and what is told between them. */
interface Habits {
  cuts: boolean[];
  repeatsUid: boolean[];
  news: string[];
}
const QUIET: Habits = { cuts: [false], repeatsUid: [true], news: [''] };

const news = fc.constantFrom(
  '',
  '* 1 FETCH (FLAGS (\\Flagged))\r\n',
  '* 2 FETCH (FLAGS ())\r\n',
  '* 3 FETCH (FLAGS (\\Seen))\r\n',
  '* 1 FETCH (UID 11 FLAGS (\\Flagged) MODSEQ (7))\r\n',
  '* 2 FETCH (UID 12 FLAGS ())\r\n',
  '* 3 FETCH (UID 13 MODSEQ (8))\r\n',
  '* 4 FETCH (UID 14 FLAGS (\\Deleted))\r\n',
  '* 3 EXISTS\r\n* 0 RECENT\r\n',
  '* OK [ALERT] soon\r\n',
);
const some = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 9 });
const anyHabits = fc.record({ cuts: some(fc.boolean()), repeatsUid: some(fc.boolean()), news: some(news) });

let habits = QUIET;
const turnsOf = <T>(list: readonly T[]) => {
  let turn = 0;
  return () => list[turn++ % list.length] as T;
};

function itemsOf(line: string, uid: number): string[] {
  const person = '(("Eve" NIL "eve" "mail.test"))';
  const known: [RegExp, string][] = [
    [/ FLAGS/, `FLAGS (${FLAGS[UIDS.indexOf(uid)]})`],
    [/INTERNALDATE/, 'INTERNALDATE "02-Nov-2026 10:00:00 +0000"'],
    [/RFC822\.SIZE/, `RFC822.SIZE ${uid}00`],
    [/BODYSTRUCTURE/, `BODYSTRUCTURE ${PLAIN_STRUCTURE}`],
    [
      /ENVELOPE/,
      `ENVELOPE (NIL "message ${uid}" ${person} ${person} ${person} ${person} NIL NIL NIL "<${uid}@mail.test>")`,
    ],
    [/HEADER\.FIELDS/, 'BODY[HEADER.FIELDS (REFERENCES IN-REPLY-TO)] {24}\r\nReferences: <1@m.test>\r\n'],
    [/BODY\.PEEK\[TEXT\]/, 'BODY[TEXT]<0> {5}\r\nhello'],
  ];
  return known.filter(([asked]) => asked.test(line)).map(([, item]) => item);
}

async function answerFetch({ line, write, ok }: ImapIo): Promise<void> {
  const [nextCut, nextRepeat, nextNews] = [
    turnsOf(habits.cuts),
    turnsOf(habits.repeatsUid),
    turnsOf(habits.news),
  ];
  const asked = /UID FETCH (\S+)/.exec(line)?.[1]?.split(',').map(Number) ?? [];
  for (const uid of UIDS.filter((one) => asked.includes(one))) {
    const place = UIDS.indexOf(uid) + 1;
    const told = [[`UID ${uid}`]];
    for (const item of itemsOf(line, uid)) {
      if (nextCut()) told.push(nextRepeat() ? [`UID ${uid}`] : []);
      told.at(-1)?.push(item);
    }
    for (const items of told) {
      await write(nextNews());
      if (items.length > 0) await write(`* ${place} FETCH (${items.join(' ')})\r\n`);
    }
  }
  await write(nextNews());
  await ok();
}

const folderState = `* FLAGS (\\Seen)\r\n* 3 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [PERMANENTFLAGS (\\Seen \\Flagged)] ok\r\n`;
const mailboxes = createScriptedMailboxes();
let call: CallTool;

beforeAll(async () => {
  call = await mailboxes.callerFor({
    SELECT: folderState,
    EXAMINE: folderState,
    'UID SEARCH': `* SEARCH ${UIDS.join(' ')}\r\n`,
    'UID FETCH': answerFetch,
    // Who opens a folder without a word of its next number is asked for the last message.
    FETCH: async ({ write, ok }) => {
      await write(turnsOf(habits.news)());
      await write('* 3 FETCH (UID 13)\r\n');
      await ok();
    },
  });
});

afterAll(() => mailboxes.close());

describe('what a server tells unasked, or in pieces', () => {
  it.each<[string, object]>([
    ['email_search_messages', {}],
    ['email_list_threads', {}],
    ['email_get_message', { folder: 'INBOX', uid: 12 }],
    ['email_get_attachment', { folder: 'INBOX', uid: 13, part_id: '1' }],
    ['email_update_flags', { folder: 'INBOX', uids: [11, 13], add: ['seen'] }],
  ])('changes nothing of the answer of %s', async (tool, args) => {
    habits = QUIET;
    const expected = await call(tool, args);
    expect(JSON.stringify(expected)).not.toContain('"uid":14');
    await fc.assert(
      fc.asyncProperty(anyHabits, async (chosen) => {
        habits = chosen;
        expect(await call(tool, args)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it('makes no message of one that is gone', async () => {
    const gone = await mailboxes.callerFor({
      SELECT: folderState,
      EXAMINE: `${folderState}* OK [UIDNEXT 14] ok\r\n`,
      'UID SEARCH': '* SEARCH 11 12\r\n',
      'UID FETCH': async ({ line, write, ok }) => {
        const items = itemsOf(line, 12).join(' ');
        await write('* 1 FETCH (UID 11 FLAGS (\\Deleted))\r\n');
        if (line.includes('12')) await write(`* 2 FETCH (UID 12 ${items})\r\n`);
        await write('* 1 EXPUNGE\r\n* 1 FETCH (FLAGS (\\Seen))\r\n* 2 FETCH (FLAGS (\\Draft))\r\n');
        await ok();
      },
    });
    expect(await gone('email_search_messages', {})).toMatchObject({
      items: [{ uid: 12, subject: 'message 12', flags: [] }],
      next_cursor: null,
    });
    await expect(gone('email_get_message', { folder: 'INBOX', uid: 11 })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });
});
