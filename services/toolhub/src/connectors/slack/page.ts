import { Type } from 'typebox';
import type { PageArguments } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import type { VendorRequest } from '../vendor-api/request.ts';
import { fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import { callSlack, type SlackContext, shape } from './api.ts';

const vendorCursor = Type.Object({
  cursor: Type.String({ minLength: 1, maxLength: 2_000 }),
  latest: Type.Optional(Type.String({ pattern: '^[0-9]{1,12}$' })),
});

/** Slack writes an empty cursor on the last page. */
export function nextCursorOf(body: unknown): string | null {
  return textOrNull(fieldsOf(fieldsOf(body).response_metadata).next_cursor) || null;
}

interface Page<Item> extends PageArguments {
  field: string;
  read: (value: unknown) => Item;
  /** The end of a stretch of time of which the caller names none: all pages are of one stretch. */
  latest?: string | undefined;
}

/** One page of a list that Slack continues by a cursor. */
export async function readPage<Item>(
  context: SlackContext,
  request: VendorRequest,
  { limit, cursor, field, read, ...page }: Page<Item>,
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const position = decodeCursor(vendorCursor, cursor);
  const latest = position === undefined ? page.latest : position.latest;
  const { body } = await callSlack(context, {
    ...request,
    query: {
      ...request.query,
      ...(latest === undefined ? {} : { latest }),
      ...{ limit, cursor: position?.cursor },
    },
  });
  const next = nextCursorOf(body);
  return {
    items: shape.list(shape.object(body)[field]).map(read),
    next_cursor: next === null ? null : encodeCursor({ cursor: next, latest }),
  };
}
