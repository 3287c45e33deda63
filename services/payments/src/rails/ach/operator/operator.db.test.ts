// The operator by itself: what it takes, what it refuses, what it answers, and that its books hold.
import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import { paymentsMigrations } from '../../../migrations.ts';
import { behaviourOf } from '../../../payment-methods/test-accounts.ts';
import type { AchTransport, OutboundFile } from '../bank/transport.ts';
import { readNacha } from '../nacha/read.ts';
import { repliesOf } from '../nacha/replies.ts';
import { writeNacha } from '../nacha/write.ts';
import { type Originator, planFiles } from '../outgoing/files.ts';
import type { Leg } from '../outgoing/legs.ts';
import { SANDBOX_ORIGINATOR, sandboxOriginOf } from '../outgoing/originator.ts';
import { DEFAULT_ACH_TERMS } from '../schedule/terms.ts';
import { aLeg } from '../test/legs.ts';
import { type AchOperator, createAchOperator } from './operator.ts';

let testDatabase: TestDatabase;
let database: Database;
let operator: AchOperator;
let mailboxes = 0;

const MONDAY = '2026-11-16';
const asOf = fromNewYork(MONDAY, '22:30');

beforeAll(async () => {
  testDatabase = await createTestDatabase(paymentsMigrations());
  database = testDatabase.database;
  operator = createAchOperator({
    database,
    now: () => new Date(),
    terms: DEFAULT_ACH_TERMS,
    originator: SANDBOX_ORIGINATOR,
    sandboxMs: 1_000,
    behaviourOf,
  });
});
afterAll(() => testDatabase.drop());

function newLine(pace: 'calendar' | 'compressed' = 'calendar'): AchTransport & { mailbox: string } {
  mailboxes += 1;
  const mailbox = `box ${mailboxes}`;
  return { mailbox, ...operator.connect(mailbox, pace) };
}

interface FileOptions {
  originator?: Originator;
  firstTraceSequence?: number;
  fileOfDay?: number;
  name?: string;
  at?: Date;
}

function fileOf(legs: readonly Partial<Leg>[], options: FileOptions = {}): OutboundFile {
  const plan = planFiles({
    legs: legs.map((leg, index) => aLeg({ id: `pay_${index}`, ...leg })),
    originator: options.originator ?? SANDBOX_ORIGINATOR,
    createdAt: options.at ?? asOf,
    firstTraceSequence: options.firstTraceSequence ?? 1,
    fileOfDay: options.fileOfDay ?? 0,
  });
  const [file] = plan.files;
  if (!file) throw new Error('no file');
  return {
    name: options.name ?? 'one.ach',
    content: writeNacha(file),
    asOf: options.at ?? asOf,
    isUploaded: false,
    noteUploaded: async () => {},
  };
}

async function booked(mailbox: string) {
  const { rows } = await database.query(
    `select direction, amount, settles_at, return_code from sandbox_ach_entries where mailbox = $1 order by trace`,
    [mailbox],
  );
  return rows;
}

describe('files', () => {
  test('good ones are booked with the settlement that they ask for', async () => {
    const line = newLine();
    const at = fromNewYork(MONDAY, '10:15');
    const file = fileOf(
      [
        { amountCents: 5 },
        { direction: 'debit', amountCents: 7, effectiveDate: MONDAY, descriptiveDate: 'SD1300' },
      ],
      { at },
    );
    expect(await line.send(file)).toEqual({ ok: true });
    expect(await booked(line.mailbox)).toEqual([
      { direction: 'debit', amount: 7, settles_at: fromNewYork(MONDAY, '13:00'), return_code: null },
      { direction: 'credit', amount: 5, settles_at: fromNewYork('2026-11-17', '08:30'), return_code: null },
    ]);
  });

  test('the same file again is taken once', async () => {
    const line = newLine();
    const file = fileOf([{}]);
    const results = await Promise.all([line.send(file), line.send(file), line.send(file)]);
    expect(results).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    expect(await booked(line.mailbox)).toHaveLength(1);
  });

  test('mailboxes know nothing of each other', async () => {
    const file = fileOf([{}]);
    const [one, two] = [newLine(), newLine()];
    expect([await one.send(file), await two.send(file)]).toEqual([{ ok: true }, { ok: true }]);
  });

  test('after 36 files a day the sender goes on under another number', async () => {
    const line = newLine();
    for (let count = 0; count < 80; count += 1) {
      const numbered = sandboxOriginOf(SANDBOX_ORIGINATOR, count);
      const name = `file-${count}.ach`;
      expect(await line.send(fileOf([{}], { ...numbered, firstTraceSequence: count + 1, name }))).toEqual({
        ok: true,
      });
    }
    expect(await booked(line.mailbox)).toHaveLength(80);
  });

  const wrong = (changes: Partial<Originator>) => ({ originator: { ...SANDBOX_ORIGINATOR, ...changes } });
  test.each<[string, Partial<Leg>, FileOptions, RegExp]>([
    ['for another bank', {}, wrong({ immediateDestination: '231380104' }), /another bank/],
    ['from a stranger', {}, wrong({ immediateOrigin: '231380104' }), /origin is unknown/],
    ['from a company without a contract', {}, wrong({ companyId: '1999999999' }), /company is unknown/],
    ['from another originating bank', {}, wrong({ odfi: '23138010' }), /not the sender/],
    ['for a holiday', { effectiveDate: '2026-11-26' }, {}, /not a banking day/],
    ['for the past', { effectiveDate: '2026-11-13' }, {}, /has passed/],
    ['for today without a window', { effectiveDate: MONDAY }, {}, /which window/],
    ['for a window that does not exist', { effectiveDate: MONDAY, descriptiveDate: 'SD1400' }, {}, /14:00/],
    ['for the same day, tomorrow', { descriptiveDate: 'SD1300' }, {}, /day of the file/],
    [
      'for too much on the same day',
      { effectiveDate: MONDAY, descriptiveDate: 'SD1300', amountCents: 100_000_001 },
      {},
      /limit of the same day/,
    ],
    ['with a prenote', { prenote: true, amountCents: 0 }, {}, /move money/],
  ])('%s are refused whole', async (_name, leg, options, reason) => {
    const line = newLine();
    const file = fileOf([leg, { holderType: 'business' }], options);
    const result = await line.send(file);
    expect(result).toMatchObject({ ok: false });
    expect(!result.ok && result.reasons.join(' ')).toMatch(reason);
    expect(await booked(line.mailbox)).toEqual([]);
    expect(await line.send(file)).toEqual(result);
  });

  test('broken ones, and those that use a name, a number or a trace again, are refused whole', async () => {
    const line = newLine();
    await line.send(fileOf([{}]));
    const again = async (file: OutboundFile) => {
      const result = await line.send(file);
      return result.ok ? '' : result.reasons.join(' ');
    };
    expect(await again({ ...fileOf([{}]), name: 'broken.ach', content: '101 nonsense' })).toMatch(/1:\d+ /);
    expect(await again(fileOf([{ amountCents: 2 }], { fileOfDay: 1, firstTraceSequence: 9 }))).toMatch(
      /before/,
    );
    expect(await again(fileOf([{}], { name: 'two.ach', firstTraceSequence: 9 }))).toMatch(/before/);
    expect(await again(fileOf([{}, {}], { name: 'three.ach', fileOfDay: 2 }))).toMatch(/1 traces were used/);
    expect(await booked(line.mailbox)).toHaveLength(1);
  });
});

describe('debits that are presented again', () => {
  const debit = { id: 'pay_again', direction: 'debit', account: 'TRTR01123456', amountCents: 700 } as const;
  const days = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;

  /** Presents a debit on one day after the other, and answers what the operator said of each. */
  async function present(...legs: Partial<Leg>[]): Promise<string[]> {
    const line = newLine();
    const said: string[] = [];
    for (const [index, leg] of legs.entries()) {
      const effectiveDate = days[index + 1] as string;
      const file = fileOf([{ ...debit, effectiveDate, ...leg }], {
        at: fromNewYork(days[index] as string, '12:00'),
        name: `day-${index}.ach`,
        firstTraceSequence: index + 1,
      });
      const result = await line.send(file);
      said.push(result.ok ? 'taken' : result.reasons.join(' '));
      await line.collect(fromNewYork(effectiveDate, '08:30'));
    }
    return said;
  }

  const again = { entryDescription: 'RETRY PYMT' };

  test('are taken twice, after returns for want of money', async () => {
    expect(await present({}, again, again, again)).toEqual([
      'taken',
      'taken',
      'taken',
      expect.stringMatching(/too often/),
    ]);
  });

  test.each<[string, Partial<Leg>[], RegExp]>([
    ['that nobody has seen before', [again], /nothing was presented/],
    ['after another reason', [{ account: 'TRTR03123456' }, again], /want of money/],
    ['that did not come back', [{ account: '12345678' }, again], /want of money/],
    ['for another amount', [{}, { ...again, amountCents: 701 }], /amount differs/],
    ['but are credits', [{}, { ...again, direction: 'credit' }], /only debits/],
  ])('%s are refused', async (_name, legs, reason) => {
    expect((await present(...legs)).at(-1)).toMatch(reason);
  });
});

describe('answers', () => {
  const accounts = {
    return: 'TRTR01123456',
    late: 'TLRR03123456',
    notify: 'TNCC01123456',
  };

  test('of an hour lie there for everybody who has come to it, also when another who is further on fetches them first', async () => {
    const line = newLine('compressed');
    const send = (n: number, ms: number) =>
      line.send(
        fileOf([{ id: `pay_${n}`, account: accounts.notify }], {
          ...{ at: new Date(asOf.getTime() + ms), name: `${n}.ach`, fileOfDay: n, firstTraceSequence: n + 1 },
        }),
      );
    await send(0, 0);
    await send(1, 200);
    const collect = async (ms: number) =>
      (await line.collect(new Date(asOf.getTime() + ms))).files.map(({ name }) => name);
    // Both are due for the one, who has not read them yet when the other comes, for whom the first alone is.
    const [first, second, ...others] = await collect(900);
    expect([first, second, others]).toEqual([expect.any(String), expect.any(String), []]);
    expect(await collect(600)).toEqual([first]);
    expect(await collect(499)).toEqual([]);
  });

  test('by the calendar: with the settlement, and at the opening of the second banking day after it', async () => {
    const line = newLine();
    await line.send(
      fileOf([{ account: accounts.return }, { account: accounts.late }, { account: accounts.notify }, {}]),
    );
    const settles = fromNewYork('2026-11-17', '08:30');
    expect(await line.nextAnswerAt()).toEqual(settles);
    expect(await line.collect(new Date(settles.getTime() - 1))).toEqual({ files: [], isAll: true });
    const read = async (at: Date) =>
      (await line.collect(at)).files.flatMap((file) => {
        const result = readNacha(file.content);
        return result.ok ? repliesOf(result.file).map(({ kind, code }) => `${kind} ${code}`) : ['unreadable'];
      });
    expect((await read(settles)).sort()).toEqual(['noc C01', 'return R01']);
    // It lies there until it is fetched.
    expect(await read(settles)).toHaveLength(2);
    for (const file of (await line.collect(settles)).files) await line.acknowledge(file.name);
    const late = fromNewYork('2026-11-19', '08:30');
    expect(await line.nextAnswerAt()).toEqual(late);
    expect(await read(late)).toEqual(['return R03']);
    for (const file of (await line.collect(late)).files) await line.acknowledge(file.name);
    expect(await line.nextAnswerAt()).toBeNull();
    const codes = (await booked(line.mailbox)).map((row) => row.return_code);
    expect(codes.sort()).toEqual(['R01', 'R03', null, null]);
  });

  test.each(['before its file comes', 'after it came'])(
    '[P-5.13] a notification by order comes in place of the one that is planned: %s',
    async (when) => {
      const line = newLine();
      const file = fileOf([{ account: accounts.notify }]);
      const sent = readNacha(file.content);
      const batch = sent.ok ? sent.file.batches[0] : undefined;
      const entry = batch?.entries[0];
      if (!batch || !entry) throw new Error('the file has an entry');
      const original = { header: batch.header, entry };
      const settles = fromNewYork('2026-11-17', '08:30');
      const order = (code: string) =>
        database.transaction((tx) =>
          operator.notifyOfChange(tx, line.mailbox, { original, code, asOf, sequence: new Date() }),
        );
      const tells = (code: string) => ({ content: expect.stringContaining(`798${code}${entry.trace}`) });
      if (when === 'before its file comes') {
        expect(await order('C01')).toMatchObject(tells('C01'));
        await line.send(file);
      } else {
        await line.send(file);
        expect(await order('C02')).toMatchObject(tells('C02'));
        expect(await line.nextAnswerAt()).toEqual(settles);
        expect(await order('C01')).toMatchObject(tells('C01'));
      }
      expect(await line.nextAnswerAt()).toBeNull();
      expect(await line.collect(settles)).toEqual({ files: [], isAll: true });
    },
  );

  test('all that is due is there at once, however many files it takes', async () => {
    const line = newLine();
    const legs = Array.from({ length: 1_001 }, (_, index) => ({
      id: `pay_${index}`,
      account: accounts.return,
    }));
    await line.send(fileOf(legs));
    const { files } = await line.collect(fromNewYork('2026-11-17', '08:30'));
    const replies = files.map(({ content }) => {
      const read = readNacha(content);
      return read.ok ? repliesOf(read.file).length : 'unreadable';
    });
    // Files of one hour have no order.
    expect(new Set(replies)).toEqual(new Set([1_000, 1]));
  });

  test('hurried: a late return comes a whole way after the payment is through, also for its second half', async () => {
    const line = newLine('compressed');
    const at = new Date('2026-11-16T15:00:00.000Z');
    const reference = { id: 'pay_same' };
    await line.send(
      fileOf(
        [
          { ...reference, direction: 'debit' },
          { id: 'pay_other', account: accounts.late },
        ],
        { at },
      ),
    );
    expect(await line.nextAnswerAt()).toEqual(new Date(at.getTime() + 2_000));
    const half = new Date(at.getTime() + 500);
    const second = fileOf([{ ...reference, account: accounts.late }], {
      at: half,
      fileOfDay: 1,
      firstTraceSequence: 3,
      name: 'two.ach',
    });
    expect(await line.send(second)).toEqual({ ok: true });
    const { rows } = await database.query<{ due_at: Date }>(
      'select due_at from sandbox_ach_answers where mailbox = $1 order by id',
      [line.mailbox],
    );
    const due = new Date(at.getTime() + 2_000);
    expect(rows.map((row) => row.due_at)).toEqual([due, due]);
  });
});
