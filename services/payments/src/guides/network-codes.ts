import { markdownTable } from '@libs/docs';
import {
  CHANGE_REASONS,
  isBetweenBanks,
  RETURN_REASONS,
  type ReturnWindow,
} from '../rails/ach/codes/codes.ts';
import { REJECT_REASONS } from '../rails/rtp/codes.ts';
import { asCode } from './figures.ts';

const windowMeanings: Readonly<Record<ReturnWindow, string>> = {
  two_banking_days: '2 banking days',
  sixty_calendar_days: '60 days',
  five_banking_days: '5 banking days',
  open: 'no fixed day',
};

/** The codes of the networks, with what callers see in `failure.code`. */
export function networkCodeIncludes(): Record<string, string> {
  return {
    return_codes: markdownTable(
      ['Code', '`failure.code`', 'Means', 'May come within'],
      [...RETURN_REASONS.values()].map(({ code, failureCode, title, window }) => [
        asCode(code),
        asCode(failureCode),
        title,
        isBetweenBanks(code) ? 'between banks' : windowMeanings[window],
      ]),
    ),
    change_codes: markdownTable(
      ['Code', 'Means'],
      [...CHANGE_REASONS.values()].map(({ code, title }) => [asCode(code), title]),
    ),
    reject_codes: markdownTable(
      ['Code', '`failure.code`', 'Means', 'ACH may take over'],
      [...REJECT_REASONS.values()].map(({ code, failureCode, title, mayWorkElsewhere }) => [
        asCode(code),
        asCode(failureCode),
        title,
        mayWorkElsewhere ? 'yes' : 'no',
      ]),
    ),
  };
}
