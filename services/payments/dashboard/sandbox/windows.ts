import { isBankingDay, nextBankingDay } from '../../src/clock/banking-days.ts';
import { fromNewYork, toNewYork } from '../../src/clock/new-york.ts';
import { DEFAULT_ACH_TERMS } from '../../src/rails/ach/schedule/terms.ts';

const MARGIN_MS = DEFAULT_ACH_TERMS.marginMinutes * 60_000;

/** The windows of ACH that a payment of now can still take, by the same calendar that the payments live by. */
export function upcomingWindows(now: Date, count: number): Date[] {
  const times = [...DEFAULT_ACH_TERMS.sameDayWindows, DEFAULT_ACH_TERMS.standardWindow].map(
    ({ deadline }) => deadline,
  );
  const { date: today } = toNewYork(now);
  const first = isBankingDay(today) ? today : nextBankingDay(today);
  return [first, nextBankingDay(first)]
    .flatMap((date) => times.map((time) => fromNewYork(date, time)))
    .filter((at) => at.getTime() - MARGIN_MS > now.getTime())
    .sort((a, b) => a.getTime() - b.getTime())
    .slice(0, count);
}
