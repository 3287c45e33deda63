// What the daily look finds, when it reports it, and when it is over; planted in the tables as a fault would leave it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isBankingDay } from '../clock/banking-days.ts';
import { addDays, fromNewYork, toNewYork } from '../clock/new-york.ts';
import { achBooks } from '../rails/ach/books/books.ts';
import { createHouse, type House } from '../rails/ach/test/house.ts';
import { rtpBooks } from '../rails/rtp/books/books.ts';
import { type Mode, tenantOf } from '../tenant.ts';
import { daysStillChanging } from './days.ts';
import type { Difference, RailBooks, ReconciledRail } from './reconciliation.ts';
import type { StoredDifference } from './stored-difference.ts';
import { booksOf, createDailyLook, differenceOf, morningOf } from './test/daily-look.ts';

const realRails = [
  { id: 'ach', books: achBooks },
  { id: 'rtp', books: rtpBooks },
] as const;

let house: House;
beforeAll(async () => {
  house = await createHouse();
  await house.startWorking();
});
afterAll(() => house.close());

beforeEach(async () => {
  house.alerts.length = 0;
  await house.database.query('truncate reconciliation_differences, reconciliations, reconciliation_runs');
});

const createDaily = (rails: readonly ReconciledRail[] = realRails) => createDailyLook(house, rails);

/** The credit left and settled although its debit came back: what a fault in the order of things would leave. */
async function plantPaidCredit(paymentId: string): Promise<void> {
  const { database } = house;
  await database.query(`delete from ach_entries where payment_id = $1 and leg = 'credit'`, [paymentId]);
  const paid = { trace: '110000008888888', returned_at: null, return_code: null };
  await database.query(
    `insert into sandbox_ach_entries select (jsonb_populate_record(n, $2)).* from sandbox_ach_entries n
     join ach_entries e on e.scope = n.mailbox and e.trace = n.trace where e.payment_id = $1`,
    [paymentId, JSON.stringify({ ...paid, direction: 'credit' })],
  );
  await database.query(
    `insert into ach_entries select (jsonb_populate_record(e, $2)).* from ach_entries e
     where payment_id = $1 and leg = 'debit'`,
    [paymentId, JSON.stringify({ ...paid, leg: 'credit', state: 'settled' })],
  );
}

async function removePaidCredit(paymentId: string): Promise<void> {
  const { database } = house;
  await database.query(
    `delete from sandbox_ach_entries n using ach_entries e
     where e.payment_id = $1 and e.leg = 'credit' and n.mailbox = e.scope and n.trace = e.trace`,
    [paymentId],
  );
  await database.query(`delete from ach_entries where payment_id = $1 and leg = 'credit'`, [paymentId]);
}

describe('the daily reconciliation', () => {
  test('[P-6.6] finds a credit that was paid although its debit came back, each day until it is mended', async () => {
    const day = '2083-05-04';
    const tenant = await house.addTenant('org_planted');
    await house.moveClock(tenant, fromNewYork(day, '09:00'));
    const id = await house.pay(tenant, { sourceId: 'pm_test_ach_return_r01' });
    await house.pay(tenant);
    await house.idle();
    await house.moveClock(tenant, fromNewYork('2083-05-14', '12:00'));
    expect((await house.get(tenant, id)).status).toBe('failed');

    const daily = createDaily();
    expect(await daily.runAt(morningOf('2083-05-06'))).toEqual([]);
    expect(await daily.stored()).toEqual([]);

    await plantPaidCredit(id);
    expect(await daily.runAt(morningOf('2083-05-07'))).toEqual(['books differ']);
    expect(house.alerts[0]?.fields).toMatchObject({
      ...{ day, rail: 'ach', mode: 'test', firstSeen: 1 },
      differences: [{ kind: 'paid_but_debit_returned', paymentId: id }],
    });
    const first = morningOf('2083-05-07');
    expect(await daily.stored()).toMatchObject([
      { kind: 'paid_but_debit_returned', day, paymentId: id, firstSeenAt: first, lastSeenAt: first },
    ]);

    // Long after the days that are looked at anyway.
    const later = morningOf('2083-07-20');
    expect(await daily.runAt(later)).toEqual(['books still differ']);
    // Once a day, however often the look is made again.
    expect(await daily.runAt(later)).toEqual([]);
    expect(await daily.runAt(morningOf('2083-07-21'))).toEqual(['books still differ']);
    expect(await daily.stored()).toMatchObject([{ firstSeenAt: first, resolvedAt: null }]);

    await removePaidCredit(id);
    const mended = morningOf('2083-07-22');
    expect(await daily.runAt(mended)).toEqual([]);
    expect(await daily.stored()).toMatchObject([{ firstSeenAt: first, resolvedAt: mended }]);

    await plantPaidCredit(id);
    await removePaidCredit(id);
    expect(await daily.runAt(morningOf('2083-07-23'))).toEqual([]);
  });

  test('[P-6.6] looks at an old day again when an answer for one of its entries has come', async () => {
    const today = toNewYork(new Date()).date;
    let day = addDays(today, -60);
    while (!isBankingDay(day)) day = addDays(day, -1);
    const tenant = await house.addTenant('org_late');
    await house.moveClock(tenant, fromNewYork(day, '09:00'));
    const id = await house.pay(tenant, { sourceId: 'pm_test_ach_late_return_r10' });
    await house.idle();
    const daily = createDaily();
    await daily.runAt(new Date());
    expect(await daily.stored()).toEqual([]);
    await house.moveClock(tenant, fromNewYork(addDays(day, 40), '12:00'));
    expect((await house.get(tenant, id)).status).toBe('returned');
    expect(await daily.runAt(new Date())).toEqual(['books differ']);
    expect(await daily.stored()).toMatchObject([{ kind: 'paid_but_debit_returned', day, paymentId: id }]);
  });

  test('[P-6.6] looks at an old day until the network has said what became of each transfer', async () => {
    const { database } = house;
    const day = '2083-08-02';
    const tenant = tenantOf('org_unknown', 'test', 1);
    const submit = (state: string) =>
      database.query(
        `insert into rtp_submissions (tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id,
           amount, settlement_date, state, inquiries, resends)
         values ($1, 'unknown', 'pay_unknown', 'att', 'msg', 'unknown', 500, $2, $3, 0, 0)
         on conflict (tenant_id, instruction_id) do update set state = excluded.state`,
        [tenant.id, day, state],
      );
    await submit('unknown');
    const daily = createDaily();
    expect(await daily.runAt(morningOf('2083-08-03'))).toEqual([]);
    expect(await daily.runAt(morningOf('2083-09-03'))).toEqual([]);
    await submit('accepted');
    expect(await daily.runAt(morningOf('2083-09-04'))).toEqual(['books differ']);
    expect(await daily.stored()).toMatchObject([
      { rail: 'rtp', kind: 'missing_in_network', day, reference: 'unknown', tenantId: tenant.id },
    ]);
  });
});

/** Books of one day. */
function booksShowing(
  day: string,
  show: () => readonly Difference[],
  modes: readonly Mode[] = ['test'],
): RailBooks {
  return booksOf((query) => (query.day === day && modes.includes(query.mode) ? show() : []));
}

describe('what one look shows', () => {
  const day = '2083-10-05';
  const morning = morningOf('2083-10-06');

  test('is not believed when a second look shows nothing of it', async () => {
    let looks = 0;
    const books = booksShowing(day, () => {
      looks += 1;
      return looks === 1 ? [differenceOf('being read')] : [differenceOf('also being read')];
    });
    const daily = createDaily([{ id: 'ach', books }]);
    expect(await daily.runAt(morning)).toEqual([]);
    expect(looks).toBe(2);
    expect(await daily.stored()).toEqual([]);
  });

  test('is one row, however often it is listed, and the same row when it comes again', async () => {
    let shown = [differenceOf('a'), differenceOf('a'), differenceOf('b')];
    const daily = createDaily([{ id: 'ach', books: booksShowing(day, () => shown) }]);
    expect(await daily.runAt(morning)).toEqual(['books differ']);
    shown = [differenceOf('b')];
    expect(await daily.runAt(morningOf('2083-10-07'))).toEqual(['books still differ']);
    shown = [differenceOf('a'), differenceOf('b')];
    expect(await daily.runAt(morningOf('2083-10-08'))).toEqual(['books differ', 'books still differ']);
    const stored = await daily.stored();
    expect(stored.map(({ reference, resolvedAt }) => [reference, resolvedAt]).sort()).toEqual([
      ['a', null],
      ['b', null],
    ]);
    expect(stored.map(({ firstSeenAt }) => firstSeenAt)).toEqual([morning, morning]);
  });

  test('takes nothing for gone where not all that differs was listed', async () => {
    const many = Array.from({ length: 2_001 }, (_, index) => differenceOf(String(index).padStart(4, '0')));
    let shown: readonly Difference[] = [differenceOf('z')];
    const daily = createDaily([{ id: 'ach', books: booksShowing(day, () => shown) }]);
    await daily.runAt(morning);
    shown = [...many, differenceOf('z')];
    await daily.runAt(morningOf('2083-10-07'));
    const { rows } = await house.database.query(
      'select count(*)::int as open from reconciliation_differences where resolved_at is null',
    );
    expect(rows).toEqual([{ open: 2_001 }]);
  });
});

describe('the line that tells of a new difference is an alert', () => {
  const day = '2083-10-05';
  const ordered = { ...differenceOf('late'), kind: 'paid_but_debit_returned' } as const;
  const alertsOf = async (shown: readonly Difference[]) => {
    const daily = createDaily([{ id: 'ach', books: booksShowing(day, () => shown, ['live', 'test']) }]);
    await daily.runAt(morningOf('2083-10-06'));
    return house.alerts
      .filter(({ message }) => message === 'books differ')
      .map(({ fields }) => ['mode' in fields && fields.mode, 'alert' in fields && fields.alert]);
  };

  test('but where users of the sandbox ordered all that is new', async () => {
    expect(await alertsOf([ordered])).toEqual([
      ['live', 'books_differ'],
      ['test', false],
    ]);
  });

  test('also in a sandbox, where one of them is a fault', async () => {
    expect(await alertsOf([ordered, differenceOf('fault')])).toEqual([
      ['live', 'books_differ'],
      ['test', 'books_differ'],
    ]);
  });
});

describe('nothing grows without end', () => {
  const day = '2083-10-05';
  const modes = (stored: readonly StoredDifference[]) => stored.map(({ mode }) => mode);

  test('what went away is kept for 400 days, what stands in live mode for ever, a sandbox’s for 90 days', async () => {
    let shown = [differenceOf('a'), differenceOf('b')];
    const books = booksShowing(day, () => shown, ['live', 'test']);
    const daily = createDaily([{ id: 'ach', books }]);
    await daily.runAt(morningOf('2083-10-06'));
    expect(modes(await daily.stored())).toHaveLength(4);
    shown = [differenceOf('a')];
    await daily.runAt(morningOf('2083-10-07'));
    await daily.sweepAt(morningOf(addDays('2083-10-06', 89)));
    expect(modes(await daily.stored())).toHaveLength(4);
    await daily.sweepAt(morningOf(addDays('2083-10-06', 91)));
    expect(modes(await daily.stored())).toEqual(['live', 'live']);
    await daily.sweepAt(morningOf(addDays('2083-10-07', 401)));
    const [kept, ...others] = await daily.stored();
    expect([kept?.reference, kept?.mode, others]).toEqual(['a', 'live', []]);
    const { rows } = await house.database.query('select count(*)::int as reports from reconciliations');
    expect(rows).toEqual([{ reports: 0 }]);
  });

  test('a sandbox’s daily line is no alarm, a live one’s is', async () => {
    const daily = createDaily([
      { id: 'ach', books: booksShowing(day, () => [differenceOf('a')], ['live', 'test']) },
    ]);
    await daily.runAt(morningOf('2083-10-06'));
    expect(await daily.runAt(morningOf('2083-10-07'))).toEqual(['books still differ', 'books still differ']);
    expect(house.alerts.map(({ fields }) => ('alert' in fields ? fields.alert : null)).sort()).toEqual([
      'books_differ',
      null,
    ]);
  });
});

test('seven banking days are looked at, with the closed days between them', () => {
  // Thanksgiving is the 26th.
  const days = daysStillChanging('2026-12-01');
  expect(days).toHaveLength(12);
  expect([days[0], days.at(-1)]).toEqual(['2026-11-19', '2026-11-30']);
});
