import { ConnectorError } from '../../connector.ts';
import { momentOf } from '../../vendor-api/moment.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const SECOND_MS = 1_000;

export interface SearchDays {
  since?: Date;
  before?: Date;
}

/**
 * The UTC days that a search looks at; null where no mail can have arrived. Servers that count in seconds from now
 * (RFC 5032) take no moment that is still to come, nor one of long ago; such an end is left out, since it parts nothing.
 */
export function daysOf(args: { since?: string; before?: string }, now: Date): SearchDays | null {
  const since = args.since === undefined ? undefined : startOfDay('since', args.since);
  const before = args.before === undefined ? undefined : startOfDay('before', args.before);
  const last = now.getTime() - SECOND_MS;
  if ((since !== undefined && since > last) || (before !== undefined && before <= 0)) return null;
  return {
    ...(since === undefined || since <= 0 ? {} : { since: new Date(since) }),
    ...(before === undefined || before > last ? {} : { before: new Date(before) }),
  };
}

/**
 * Which days to ask a server for that knows days alone: it takes them as its own clock has them (RFC 3501 6.4.4), anywhere on earth, so
 * that a day more on either side is asked for, and what does not belong to it is left out here.
 */
export function daysAround({ since, before }: SearchDays): SearchDays {
  return {
    ...(since === undefined ? {} : { since: new Date(since.getTime() - DAY_MS) }),
    ...(before === undefined ? {} : { before: new Date(before.getTime() + DAY_MS) }),
  };
}

export function isWithin({ since, before }: SearchDays, at: Date): boolean {
  return !(since !== undefined && at < since) && !(before !== undefined && at >= before);
}

/** 2026-02-30 has the right form and is no day; left out, it would find everything. */
function startOfDay(field: string, text: string): number {
  const day = text.slice(0, 'yyyy-mm-dd'.length);
  const dayMs = Date.parse(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(day);
  const at = momentOf(text).getTime();
  if (!isDay || Number.isNaN(at)) throw new ConnectorError('invalid_arguments', `\`${field}\` is no date`);
  return Math.floor(at / DAY_MS) * DAY_MS;
}
