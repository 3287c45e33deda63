// What the servers of Meta's platforms share: the Graph API's errors, tokens and pages, written from
// https://developers.facebook.com/docs/graph-api.
import { bearerOf } from './token-endpoint.ts';
import type { Received, Reply, Route } from './vendor-server.ts';

export function graphRefusal(
  status: number,
  code: number,
  message: string,
  more: Record<string, unknown> = {},
): Reply {
  return {
    status,
    json: { error: { message, type: 'OAuthException', code, fbtrace_id: 'A1b2C3', ...more } },
  };
}

export const tokenOver = graphRefusal(401, 190, 'Error validating access token: Session has expired', {
  error_subcode: 463,
});

export const unknownObject = (id: string | undefined) =>
  graphRefusal(400, 100, `Unsupported get request. Object with ID '${id}' does not exist`, {
    error_subcode: 33,
  });

export type GraphRoute = (request: Received, owner: string, parameters: readonly string[]) => Reply;

/** Lets in who has a token; `owner` is whom it was made for. */
export function withToken(tokens: ReadonlyMap<string, string>, route: GraphRoute): Route {
  return (request, parameters) => {
    const owner = tokens.get(bearerOf(request) ?? '');
    return owner === undefined ? tokenOver : route(request, owner, parameters);
  };
}

/** A page by `after`; there is a cursor on the last page, too, but no `next`. */
export function graphPage(request: Received, all: readonly unknown[]): Reply {
  const start = Number(Buffer.from(request.query.get('after') ?? 'MA==', 'base64').toString());
  const end = Math.min(start + Number(request.query.get('limit') ?? 25), all.length);
  const cursors = {
    before: Buffer.from(String(start)).toString('base64'),
    after: Buffer.from(String(end)).toString('base64'),
  };
  const next =
    end < all.length
      ? { next: `https://graph.facebook.com/v24.0${request.path}?after=${cursors.after}` }
      : {};
  return { json: { data: all.slice(start, end), paging: { cursors, ...next } } };
}
