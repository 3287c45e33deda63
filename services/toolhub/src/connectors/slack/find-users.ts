import { Type } from 'typebox';
import { ConnectorError, type PageArguments } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import { callSlack, type SlackContext, shape } from './api.ts';
import { readUser, type SlackUser } from './message.ts';
import { nextCursorOf } from './page.ts';

/** Slack has no search for people, so the directory is read; its list may be asked for about 20 times a minute. */
const DIRECTORY_PAGE_SIZE = 200;
const DIRECTORY_PAGES_MAX = 5;

const position = Type.Object({
  cursor: Type.String({ maxLength: 2_000 }),
  skip: Type.Integer({ minimum: 0, maximum: DIRECTORY_PAGE_SIZE }),
});

/** Matches in the order of the directory; a page may be short, and the list ends only where there is no cursor. */
export async function findUsers(
  context: SlackContext,
  { query, limit, cursor }: PageArguments & { query: string },
): Promise<{ items: SlackUser[]; next_cursor: string | null }> {
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(query))
    return { items: await findByAddress(context, query), next_cursor: null };
  let { cursor: at, skip } = decodeCursor(position, cursor) ?? { cursor: '', skip: 0 };
  const items: SlackUser[] = [];
  for (let page = 0; page < DIRECTORY_PAGES_MAX; page += 1) {
    const { body } = await callSlack(context, {
      path: '/users.list',
      query: { limit: DIRECTORY_PAGE_SIZE, cursor: at === '' ? undefined : at },
    });
    const matches = shape.list(shape.object(body).members).map(readUser).filter(isMatch(query)).slice(skip);
    const taken = matches.slice(0, limit - items.length);
    items.push(...taken);
    if (taken.length < matches.length)
      return { items, next_cursor: encodeCursor({ cursor: at, skip: skip + taken.length }) };
    const next = nextCursorOf(body);
    if (next === null) return { items, next_cursor: null };
    at = next;
    skip = 0;
    if (items.length >= limit) break;
  }
  return { items, next_cursor: encodeCursor({ cursor: at, skip }) };
}

async function findByAddress(context: SlackContext, email: string): Promise<SlackUser[]> {
  try {
    const { body } = await callSlack(context, { path: '/users.lookupByEmail', query: { email } });
    return [readUser(shape.object(body).user)];
  } catch (error) {
    if (error instanceof ConnectorError && error.platformCode === 'users_not_found') return [];
    throw error;
  }
}

function isMatch(query: string): (user: SlackUser) => boolean {
  const wanted = query.toLowerCase().replace(/^@/, '');
  return ({ id, name, real_name, display_name, email }) =>
    id.toLowerCase() === wanted ||
    [name, real_name, display_name, email].some((text) => text?.toLowerCase().includes(wanted) === true);
}
