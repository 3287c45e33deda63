import { InvalidRequestError } from './errors.ts';
import type { Event } from './event-types.ts';
import type { List, Page } from './pagination.ts';

/** Pages that are walked back over; beyond them whoever reads is told, since events that are left out would be missed by nobody. */
const PAGES_MAX = 1_000;

/**
 * What came after this event, or all that is kept where it is null or gone; oldest first. The list is newest first, so it
 * is walked to its end before anything is told, and of each page only where it begins is kept: they may be many.
 */
export async function* eventsSince(list: List<Event>, before: string | null): AsyncGenerator<Event> {
  const newest = await list.page();
  const cursors: string[] = [];
  let oldest = newest;
  for (let cursor = cursorOn(oldest, before); cursor !== null; cursor = cursorOn(oldest, before)) {
    // A server that answers the same cursor again has nothing more to tell.
    if (cursor === cursors.at(-1)) break;
    if (cursors.length >= PAGES_MAX - 1) throw tooMany(before, PAGES_MAX * newest.data.length);
    cursors.push(cursor);
    oldest = await list.page(cursor);
  }
  yield* oldestFirst(oldest, before);
  for (const cursor of cursors.slice(0, -1).reverse()) yield* oldestFirst(await list.page(cursor), before);
  if (oldest !== newest) yield* oldestFirst(newest, before);
}

/** Where what came after the event goes on; null where this page is the last of it. */
function cursorOn(page: Page<Event>, before: string | null): string | null {
  return page.data.some(({ id }) => id === before) ? null : (page.next_cursor ?? null);
}

function oldestFirst({ data }: Page<Event>, before: string | null): Event[] {
  const end = data.findIndex(({ id }) => id === before);
  return (end === -1 ? data.slice() : data.slice(0, end)).reverse();
}

function tooMany(before: string | null, count: number): InvalidRequestError {
  const which = before === null ? 'are kept' : `came after ${before}`;
  const message = `More than ${count} events ${which}, which is more than a stream catches up with: list them.`;
  return new InvalidRequestError(message, { code: 'last_event_unknown' });
}
