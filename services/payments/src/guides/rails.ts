import { markdownTable } from '@libs/docs';
import { DEFAULT_ACH_TERMS } from '../rails/ach/schedule/terms.ts';
import { BOOK_TERMS } from '../rails/book/terms.ts';
import { RAIL_IDS, type RailId } from '../rails/rail-ids.ts';
import { RTP_TERMS } from '../rails/rtp/terms.ts';
import type { Obstacle, Preference } from '../routing/decision.ts';
import { ROUTING_TERMS } from '../routing/terms.ts';
import { asCode, inDollars, inWords } from './figures.ts';

interface RailRow {
  carries: string;
  fee: string;
  limit: string;
  arrives: string;
}

const ach = DEFAULT_ACH_TERMS;

const UNDESCRIBED: RailRow = { carries: '–', fee: '–', limit: '–', arrives: '–' };

/** A rail that nobody has described yet is listed by its name: adding one touches its folder and the list alone. */
const railRows: Readonly<Partial<Record<RailId, RailRow>>> = {
  rtp: {
    carries: 'instant payments between banks, day and night',
    fee: inDollars(RTP_TERMS.feeCents),
    limit: inDollars(RTP_TERMS.amountMax),
    arrives: `in seconds (counted as ${inWords(RTP_TERMS.settlesInMs)})`,
  },
  ach: {
    carries: 'files between banks, on banking days',
    fee: `${inDollars(ach.feeCents)}, same day ${inDollars(ach.sameDayFeeCents)}`,
    limit: `${inDollars(ach.amountMaxCents)}, same day ${inDollars(ach.sameDayAmountMaxCents)}`,
    arrives: 'the same day or the next banking day; money that is fetched from a bank waits for its returns',
  },
  book: {
    carries: 'money between two balances held here',
    fee: BOOK_TERMS.feeCents === 0 ? 'free' : inDollars(BOOK_TERMS.feeCents),
    limit: 'what is in the balance',
    arrives: 'at once',
  },
};

const preferenceMeanings: Readonly<Record<Preference, string>> = {
  balanced: 'The lowest of fee plus what the wait costs. This is the default.',
  speed: 'The earliest settlement; of two equal ones the cheaper.',
  cost: 'The lowest fee; of two equal ones the faster.',
};

const obstacleMeanings: Readonly<Record<Obstacle, string>> = {
  source_cannot_send: 'The source is not able to send on this rail.',
  destination_cannot_receive: "The destination's bank does not take part in this rail.",
  amount_over_limit: 'The amount is more than the rail takes.',
  only_between_balances: 'This rail moves money between two balances only.',
  not_between_balances: 'Both sides are balances: `book` does that.',
  not_configured: 'This server is not connected to the rail.',
  down: 'The rail does not work at the moment.',
  refused: 'The rail has refused this payment already.',
};

function windowsTable(): string {
  const rows = ach.sameDayWindows.map(({ deadline, settlesAt }) => [
    'same day',
    deadline,
    `${settlesAt} on that day`,
  ]);
  const { deadline, settlesAt, bankingDaysLater } = ach.standardWindow;
  const later = bankingDaysLater === 1 ? 'the next banking day' : `${bankingDaysLater} banking days later`;
  return markdownTable(
    ['Kind', 'Deadline (New York)', 'Settles'],
    [...rows, ['standard', deadline, `${settlesAt} on ${later}`]],
  );
}

/** Ordinary returns come within two banking days. */
const RETURNS_BANKING_DAYS = 2;

function whenGood(holdDays: number): string {
  if (holdDays === 0) return 'settled';
  const later = `settled, and ${holdDays} banking ${holdDays === 1 ? 'day' : 'days'} later`;
  return holdDays < RETURNS_BANKING_DAYS ? later : `${later}, when its ordinary returns can no longer come`;
}

export function railIncludes({ debitHoldDays }: { debitHoldDays: number }): Record<string, string> {
  return {
    rails: markdownTable(
      ['Rail', 'Carries', 'Fee', 'Limit', 'Arrives'],
      RAIL_IDS.map((id) => {
        const { carries, fee, limit, arrives } = railRows[id] ?? UNDESCRIBED;
        return [asCode(id), carries, fee, limit, arrives];
      }),
    ),
    windows: windowsTable(),
    window_margin: `${ach.marginMinutes} minutes`,
    debit_is_good: whenGood(debitHoldDays),
    preferences: markdownTable(
      ['`prefer`', 'Chooses'],
      Object.entries(preferenceMeanings).map(([preference, meaning]) => [asCode(preference), meaning]),
    ),
    delay_cost: `${ROUTING_TERMS.delayCostPerYear * 100} %`,
    obstacles: markdownTable(
      ['Reason', 'Means'],
      Object.entries(obstacleMeanings).map(([reason, meaning]) => [asCode(reason), meaning]),
    ),
  };
}
