const FIRST_MS = new Date('0001-01-01T00:00:00.000Z').getTime();
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The moment that a `date-time` names. That form also knows leap seconds and, by its zones, moments just outside of the
 * years 1 to 9999; for these stands the nearest one that Date, Postgres and vendors all know.
 */
export function momentOf(text: string): Date {
  const ms = Date.parse(text.replace(/(?<=:\d\d:)60/, '59'));
  return new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS));
}

/** For what a vendor or a sender dates: null where that is no moment of the years 1 to 9999. */
export function isoOrNull(ms: number): string | null {
  return ms >= FIRST_MS && ms <= LAST_MS ? new Date(ms).toISOString() : null;
}
