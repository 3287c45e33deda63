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

const usage = (...minutes: number[]) => ({
  'x-business-use-case-usage': JSON.stringify({
    1: minutes.map((estimated_time_to_regain_access) => ({ estimated_time_to_regain_access })),
  }),
});

/** The Graph API's own codes, and what each means. */
export const graphMeanings = [
  ...[102, 104, 190].map((code) => [graphRefusal(400, code, 'x'), { code: 'token_expired' }] as const),
  ...[4, 17, 32, 341, 613, 80_001, 80_002, 80_006, 80_007, 80_008, 130_429, 131_048, 131_056].map(
    (code) => [graphRefusal(400, code, 'x'), { code: 'rate_limited', retryAfterSeconds: 60 }] as const,
  ),
  ...[1, 2, 131_000, 131_016].map(
    (code) => [graphRefusal(400, code, 'x'), { code: 'platform_unavailable' }] as const,
  ),
  [graphRefusal(200, 190, 'x'), { code: 'token_expired' }],
  [graphRefusal(500, 190, 'x'), { code: 'platform_unavailable' }],
  [graphRefusal(500, 3, 'x'), { code: 'platform_error', platformCode: '3' }],
  [graphRefusal(400, -1, 'x', { is_transient: true }), { code: 'platform_unavailable' }],
  [graphRefusal(400, -1, 'x', { is_transient: false }), { code: 'platform_error', platformCode: '-1' }],
  ...[2_207_001, 2_207_003, 2_207_008, 2_207_027].map(
    (error_subcode) =>
      [
        graphRefusal(400, 24, 'x', { error_subcode }),
        { code: 'platform_unavailable', platformCode: '24' },
      ] as const,
  ),
  [graphRefusal(400, 24, 'x', { error_subcode: 2_207_006 }), { code: 'platform_error', platformCode: '24' }],
  [graphRefusal(400, 4, 'x', { error_subcode: 2_207_051 }), { code: 'platform_error', platformCode: '4' }],
  [graphRefusal(302, 10, 'x'), { code: 'platform_unavailable' }],
  [graphRefusal(403, 10, 'x'), { code: 'platform_error', platformCode: '10' }],
  [{ status: 401 }, { code: 'token_expired' }],
  [{ status: 429 }, { code: 'rate_limited', retryAfterSeconds: 60 }],
  [{ status: 404 }, { code: 'platform_error', platformCode: '404' }],
  [
    { ...graphRefusal(400, 4, 'x'), headers: usage(3, 7, 5) },
    { code: 'rate_limited', retryAfterSeconds: 420 },
  ],
  [
    { ...graphRefusal(400, 4, 'x'), headers: { 'x-business-use-case-usage': 'no JSON' } },
    { code: 'rate_limited', retryAfterSeconds: 60 },
  ],
] as const;

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
