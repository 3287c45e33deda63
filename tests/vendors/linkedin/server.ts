// LinkedIn's REST API written from https://learn.microsoft.com/linkedin: the methods that the connector calls, with the
// documented headers, answers and errors.
import { bearerOf, createTokenEndpoint, type TokenEndpoint } from '../token-endpoint.ts';
import {
  type Received,
  type Reply,
  type Route,
  startVendorServer,
  type VendorServer,
} from '../vendor-server.ts';

export interface LinkedinServer extends VendorServer {
  /** Token → id of the person. */
  tokens: Map<string, string>;
  posts: Map<string, { author: string; commentary: string }>;
  comments: { post: string; actor: string; text: string }[];
  endpoint: TokenEndpoint;
  addPost(author: string): string;
}

const refused = (status: number, serviceErrorCode: number, message: string): Reply => ({
  status,
  json: { status, serviceErrorCode, message },
});

export async function startLinkedin(port = 0): Promise<LinkedinServer> {
  const tokens = new Map<string, string>();
  const posts: LinkedinServer['posts'] = new Map();
  const comments: LinkedinServer['comments'] = [];
  const endpoint = createTokenEndpoint({
    status: 400,
    json: { error: 'invalid_grant', error_description: 'The provided refresh token is invalid' },
  });
  let nextId = 7_100_000_000_000_000_000n;
  const newId = () => {
    nextId += 1n;
    return String(nextId);
  };

  const signedIn =
    (route: (request: Received, person: string, parameters: readonly string[]) => Reply): Route =>
    (request, parameters) => {
      const person = tokens.get(bearerOf(request) ?? '');
      if (person === undefined) return refused(401, 65_600, 'Invalid access token');
      return route(request, person, parameters);
    };
  /** Methods below /rest want to know for which version and protocol they are called. */
  const versioned = (route: Parameters<typeof signedIn>[0]) =>
    signedIn((request, person, parameters) => {
      if (!/^\d{6}$/.test(String(request.headers['linkedin-version'])))
        return refused(
          400,
          0,
          'A version must be present. Please specify a version by adding the LinkedIn-Version header.',
        );
      if (request.headers['x-restli-protocol-version'] !== '2.0.0')
        return refused(400, 0, 'Syntax exception in path variables');
      return route(request, person, parameters);
    });
  function addPost(author: string, commentary = 'hello'): string {
    const urn = `urn:li:share:${newId()}`;
    posts.set(urn, { author, commentary });
    return urn;
  }

  const server = await startVendorServer(
    'LinkedIn',
    {
      'POST /oauth/v2/accessToken': endpoint.route,
      'GET /v2/userinfo': signedIn((_request, person) => ({
        json: {
          ...{ sub: person, name: 'Ada Lovelace', given_name: 'Ada', family_name: 'Lovelace' },
          ...{ picture: 'https://media.licdn.com/ada', locale: { country: 'US', language: 'en' } },
        },
      })),
      'POST /rest/posts': versioned((request, person) => {
        const body = request.body as { author: string; commentary: string; lifecycleState?: string };
        if (body.author !== `urn:li:person:${person}`)
          return refused(403, 100, 'Not enough permissions to create a post');
        if (body.lifecycleState !== 'PUBLISHED') return refused(422, 0, 'lifecycleState is required');
        return { status: 201, headers: { 'x-restli-id': addPost(body.author, body.commentary) }, text: '' };
      }),
      'DELETE /rest/posts/*': versioned((_request, person, [urn = '']) => {
        if (posts.get(urn)?.author !== `urn:li:person:${person}`)
          return refused(404, 0, 'Could not find entity');
        posts.delete(urn);
        return { status: 204, text: '' };
      }),
      'GET /rest/socialActions/*/comments': versioned((request, _person, [urn = '']) => {
        if (!posts.has(urn)) return refused(404, 0, 'Could not find entity');
        const [start, count] = [
          Number(request.query.get('start') ?? 0),
          Number(request.query.get('count') ?? 10),
        ];
        const found = comments.map((comment, id) => ({ ...comment, id })).filter(({ post }) => post === urn);
        return {
          json: {
            paging: { start, count, total: found.length, links: [] },
            elements: found.slice(start, start + count).map(({ actor, text, id }) => ({
              ...{ id: String(6_900_000 + id), actor, message: { attributes: [], text }, object: urn },
              ...{
                commentUrn: `urn:li:comment:(${urn},${6_900_000 + id})`,
                created: { time: 1_762_000_000_000 },
              },
            })),
          },
        };
      }),
      'POST /rest/socialActions/*/comments': versioned((request, _person, [urn = '']) => {
        const { actor, message } = request.body as { actor: string; message: { text: string } };
        if (!posts.has(urn)) return refused(404, 0, 'Could not find entity');
        const id = String(6_900_000 + comments.push({ post: urn, actor, text: message.text }) - 1);
        return {
          ...{ status: 201, headers: { 'x-restli-id': id } },
          json: { id, actor, message, commentUrn: `urn:li:comment:(${urn},${id})` },
        };
      }),
    },
    port,
  );
  return { ...server, tokens, posts, comments, endpoint, addPost };
}
