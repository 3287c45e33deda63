import { isBankingDay } from '../clock/banking-days.ts';
import { addDays, type CivilDate } from '../clock/new-york.ts';

/** Ordinary returns come within two banking days of settlement; what comes later is found by its answer. */
const BANKING_DAYS_LOOKED_AT = 7;

/**
 * The days before `today` back to the seventh banking day, the earliest first. Closed days are among them: RTP settles
 * on them, and so do files of a sandbox without a clock.
 */
export function daysStillChanging(today: CivilDate): CivilDate[] {
  const days: CivilDate[] = [];
  let bankingDays = 0;
  for (let day = addDays(today, -1); bankingDays < BANKING_DAYS_LOOKED_AT; day = addDays(day, -1)) {
    days.unshift(day);
    if (isBankingDay(day)) bankingDays += 1;
  }
  return days;
}

/** The days from `first` to the one before `end`, the earliest first; where there are more than `max`, the latest. */
export function daysBetween(first: CivilDate, end: CivilDate, max: number): CivilDate[] {
  const days: CivilDate[] = [];
  for (let day = addDays(end, -1); day >= first && days.length < max; day = addDays(day, -1))
    days.unshift(day);
  return days;
}
