import { Type } from 'typebox';
import type { PageArguments, ToolContext } from '../connector.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { nextGraphCursor } from './graph.ts';
import type { CallVendor, VendorRequest } from './request.ts';
import type { Shape } from './shape.ts';

const vendorCursor = Type.Object({ after: Type.String({ minLength: 1, maxLength: 2_000 }) });

/** One page of an edge of the Graph API. */
export async function readGraphPage<Credential, Item>(
  call: CallVendor<Credential>,
  context: ToolContext<Credential>,
  request: VendorRequest,
  { limit, cursor, read, shape }: PageArguments & { read: (value: unknown) => Item; shape: Shape },
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const { body } = await call(context, {
    ...request,
    query: { ...request.query, limit, after: decodeCursor(vendorCursor, cursor)?.after },
  });
  const after = nextGraphCursor(body);
  return {
    items: shape.list(shape.object(body).data).map(read),
    next_cursor: after === null ? null : encodeCursor({ after }),
  };
}
