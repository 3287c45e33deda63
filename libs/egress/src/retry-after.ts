const SECONDS = /^\d{1,10}(\.\d+)?$/;
/** The three forms of a date in HTTP; what names no zone means GMT. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d/;
const ZONE_AT_END = /(GMT|UTC|Z|[+-]\d\d:?\d\d)$/;
const ISO_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$/;

/**
 * How long `Retry-After` asks to wait, in seconds or as a date (RFC 9110); less than zero for one that is over, and
 * undefined where it says neither. `Date.parse` alone finds a date in nearly any text: the year 2001 in "-1".
 */
export function retryAfterMs(header: string, now: Date): number | undefined {
  const text = header.trim();
  if (SECONDS.test(text)) return Math.ceil(Number(text) * 1_000);
  if (!HTTP_DATE.test(text) && !ISO_DATE.test(text)) return undefined;
  const at = Date.parse(ZONE_AT_END.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : at - now.getTime();
}
