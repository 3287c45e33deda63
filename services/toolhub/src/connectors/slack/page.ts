import { Type } from 'typebox';
import type { PageArguments } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import type { VendorRequest } from '../vendor-api/request.ts';
import { fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import { callSlack, type SlackContext, shape } from './api.ts';

const vendorCursor = Type.Object({ cursor: Type.String({ minLength: 1, maxLength: 2_000 }) });

/** Slack writes an empty cursor on the last page. */
export function nextCursorOf(body: unknown): string | null {
  return textOrNull(fieldsOf(fieldsOf(body).response_metadata).next_cursor) || null;
}

/** One page of a list that Slack continues by a cursor. */
export async function readPage<Item>(
  context: SlackContext,
  request: VendorRequest,
  { limit, cursor, field, read }: PageArguments & { field: string; read: (value: unknown) => Item },
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const position = decodeCursor(vendorCursor, cursor);
  const { body } = await callSlack(context, {
    ...request,
    query: { ...request.query, limit, cursor: position?.cursor },
  });
  const next = nextCursorOf(body);
  return {
    items: shape.list(shape.object(body)[field]).map(read),
    next_cursor: next === null ? null : encodeCursor({ cursor: next }),
  };
}
