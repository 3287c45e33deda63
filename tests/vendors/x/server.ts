// X's API v2 written from https://docs.x.com/x-api: the methods that the connector calls, with the documented answers,
// tokens of pages and problems.
import { bearerOf, createTokenEndpoint, type TokenEndpoint } from '../token-endpoint.ts';
import {
  type Received,
  type Reply,
  type Route,
  startVendorServer,
  type VendorServer,
} from '../vendor-server.ts';

interface Post {
  id: string;
  authorId: string;
  text: string;
  raw?: unknown;
}

export interface XServer extends VendorServer {
  tokens: Map<string, string>;
  posts: Post[];
  endpoint: TokenEndpoint;
  addPost(authorId: string, text: string): string;
}

/** As X writes texts. */
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const USERS = [
  { id: '100', username: 'ada', name: 'Ada' },
  { id: '200', username: 'bob', name: 'Bob' },
];

const problem = (status: number, title: string, detail: string, type = 'about:blank'): Reply => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  json: { title, detail, status, type },
});

const notFound = (id: string): Reply => ({
  json: {
    errors: [
      {
        ...{ value: id, detail: `Could not find tweet with id: [${id}].`, title: 'Not Found Error' },
        ...{ resource_type: 'tweet', type: 'https://api.twitter.com/2/problems/resource-not-found' },
      },
    ],
  },
});

export async function startX(port = 0): Promise<XServer> {
  const tokens = new Map<string, string>();
  const posts: Post[] = [];
  const endpoint = createTokenEndpoint({
    status: 400,
    json: { error: 'invalid_request', error_description: 'Value passed for the token was invalid.' },
  });
  let nextId = 1_900_000_000_000_000_000n;

  const signedIn =
    (route: (request: Received, userId: string, parameters: readonly string[]) => Reply): Route =>
    (request, parameters) => {
      const userId = tokens.get(bearerOf(request) ?? '');
      if (userId === undefined) return problem(401, 'Unauthorized', 'Unauthorized');
      return route(request, userId, parameters);
    };
  const profile = (user: (typeof USERS)[number] | undefined) => ({
    ...user,
    ...{ created_at: '2013-12-14T04:35:55.000Z', description: 'Hi', url: '', location: 'London' },
    public_metrics: { followers_count: 3, following_count: 4, tweet_count: 5, listed_count: 0 },
  });
  const postOf = ({ id, authorId, text }: Post) => ({
    ...{ id, text: escaped(text), author_id: authorId, created_at: '2026-11-01T10:00:00.000Z', lang: 'en' },
    ...{ conversation_id: id, edit_history_tweet_ids: [id] },
    public_metrics: { like_count: 1, retweet_count: 2, reply_count: 0, quote_count: 0 },
  });
  const usersOf = (found: readonly Post[]) =>
    USERS.filter(({ id }) => found.some(({ authorId }) => authorId === id));

  function page(
    request: Received,
    all: readonly Post[],
    { min, token }: { min: number; token: string },
  ): Reply {
    const size = Number(request.query.get('max_results') ?? 10);
    if (size < min || size > 100)
      return problem(
        400,
        'Invalid Request',
        `max_results must be between ${min} and 100`,
        'https://api.twitter.com/2/problems/invalid-request',
      );
    const start = Number(request.query.get(token)?.replace('tok', '') ?? 0);
    const found = all.toReversed().slice(start, start + size);
    const next = start + size < all.length ? { next_token: `tok${start + size}` } : {};
    return {
      json: {
        ...(found.length > 0 ? { data: found.map(postOf), includes: { users: usersOf(found) } } : {}),
        meta: { result_count: found.length, ...next },
      },
    };
  }

  function addPost(authorId: string, text: string, raw?: unknown): string {
    nextId += 1n;
    posts.push({ id: String(nextId), authorId, text, raw });
    return String(nextId);
  }

  const server = await startVendorServer(
    'X',
    {
      'POST /2/oauth2/token': endpoint.route,
      'GET /2/users/me': signedIn((_request, userId) => ({
        json: { data: profile(USERS.find(({ id }) => id === userId)) },
      })),
      'GET /2/users/by/username/*': signedIn((_request, _userId, [name]) => {
        const user = USERS.find(({ username }) => username === name);
        return user ? { json: { data: profile(user) } } : notFound(name ?? '');
      }),
      'GET /2/tweets/search/recent': signedIn((request) =>
        page(
          request,
          posts.filter(({ text }) => text.includes(request.query.get('query') ?? '')),
          { min: 10, token: 'next_token' },
        ),
      ),
      'GET /2/users/*/mentions': signedIn((request, _userId, [id]) => {
        const { username } = USERS.find((user) => user.id === id) ?? { username: '?' };
        const since = BigInt(request.query.get('since_id') ?? 0);
        const found = posts.filter((post) => post.text.includes(`@${username}`) && BigInt(post.id) > since);
        return page(request, found, { min: 5, token: 'pagination_token' });
      }),
      'GET /2/tweets/*': signedIn((_request, _userId, [id]) => {
        const post = posts.find((candidate) => candidate.id === id);
        return post
          ? { json: { data: postOf(post), includes: { users: usersOf([post]) } } }
          : notFound(id ?? '');
      }),
      'POST /2/tweets': signedIn((request, userId) => {
        const { text = '' } = request.body as { text?: string };
        if (text.length > 280)
          return problem(403, 'Forbidden', 'You are not permitted to perform this action.');
        return { status: 201, json: { data: { id: addPost(userId, text, request.body), text } } };
      }),
      'POST /2/dm_conversations/with/*/messages': signedIn((_request, userId, [id]) => ({
        status: 201,
        json: { data: { dm_conversation_id: `${userId}-${id}`, dm_event_id: '1580705921830768647' } },
      })),
      'DELETE /2/tweets/*': signedIn((_request, userId, [id]) => {
        const at = posts.findIndex((post) => post.id === id && post.authorId === userId);
        if (at < 0)
          return problem(
            403,
            'Forbidden',
            'You are not permitted to delete this Tweet.',
            'https://api.twitter.com/2/problems/client-forbidden',
          );
        posts.splice(at, 1);
        return { json: { data: { deleted: true } } };
      }),
    },
    port,
  );
  return { ...server, tokens, posts, endpoint, addPost };
}
