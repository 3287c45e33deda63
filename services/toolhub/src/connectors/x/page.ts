import { Type } from 'typebox';
import type { PageArguments } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import type { VendorRequest } from '../vendor-api/request.ts';
import { fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import { callX, shape, type XContext } from './api.ts';
import { POST_FIELDS, readPost, type XPost } from './post.ts';

const PAGE_SIZE_MAX = 100;

const position = Type.Object({
  token: Type.Union([Type.Null(), Type.String({ pattern: '^[!-~]{1,512}$' })]),
  skip: Type.Integer({ minimum: 0, maximum: PAGE_SIZE_MAX }),
});

/**
 * One page of a list of posts. X gives no pages under `sizeMin`, so a smaller one is a part of such a page, and the
 * cursor says how much of it was given.
 */
export async function readPosts(
  context: XContext,
  request: VendorRequest,
  { limit, cursor, sizeMin, tokenName }: PageArguments & { sizeMin: number; tokenName: string },
): Promise<{ items: XPost[]; next_cursor: string | null }> {
  const { token, skip } = decodeCursor(position, cursor) ?? { token: null, skip: 0 };
  const { body } = await callX(context, {
    ...request,
    query: {
      ...request.query,
      ...POST_FIELDS,
      max_results: Math.max(limit, sizeMin),
      [tokenName]: token ?? undefined,
    },
  });
  const { data, includes, meta } = shape.object(body);
  const rest = listOf(data).slice(skip);
  const items = rest.slice(0, limit).map((value) => readPost(value, includes));
  const next = textOrNull(fieldsOf(meta).next_token);
  if (items.length < rest.length)
    return { items, next_cursor: encodeCursor({ token, skip: skip + items.length }) };
  return { items, next_cursor: next === null ? null : encodeCursor({ token: next, skip: 0 }) };
}
