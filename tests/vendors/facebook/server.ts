// Facebook's Graph API for pages written from https://developers.facebook.com/docs/pages-api: the methods that the
// connector calls, with the documented answers and errors.
import { graphPage, graphRefusal, tokenOver, unknownObject, withToken } from '../graph.ts';
import { type Reply, startVendorServer, type VendorServer } from '../vendor-server.ts';

export interface FacebookServer extends VendorServer {
  /** Token → whom it was made for: the person, or a page. */
  tokens: Map<string, string>;
  posts: { id: string; page: string; fields: Record<string, unknown> }[];
  comments: { id: string; on: string; page: string; message: string }[];
  addPost(page: string, message: string): string;
  addComment(page: string, on: string, message: string): string;
}

export const PAGES = ['1001', '1002', '1003'];
export const PERSON = '42';
const LONG_LIFE_SECONDS = 5_184_000;

const pageToken = (page: string) => `page-token-of-${page}`;
const mustBePage = graphRefusal(403, 200, '(#200) A page access token is required for this call');
const noSuchField = (field: string, type: string) =>
  graphRefusal(400, 100, `(#100) Tried accessing nonexisting field (${field}) on node type (${type})`);

export async function startFacebook(port = 0): Promise<FacebookServer> {
  const tokens = new Map<string, string>(PAGES.map((page) => [pageToken(page), page]));
  const posts: FacebookServer['posts'] = [];
  const comments: FacebookServer['comments'] = [];
  let next = 5_000;
  const newId = () => {
    next += 1;
    return String(next);
  };

  function addPost(page: string, message: string, fields: Record<string, unknown> = {}): string {
    const id = `${page}_${newId()}`;
    posts.push({ id, page, fields: { message, ...fields } });
    return id;
  }
  function addComment(page: string, on: string, message: string): string {
    const id = `${on.split('_')[1]}_${newId()}`;
    comments.push({ id, on, page, message });
    return id;
  }
  const objectOf = (id: string | undefined) =>
    posts.find((post) => post.id === id) ?? comments.find((comment) => comment.id === id);

  const server = await startVendorServer(
    'Facebook',
    {
      'GET /oauth/access_token': ({ query }): Reply => {
        if (query.get('client_secret') !== 'client-secret')
          return graphRefusal(400, 101, 'Error validating client secret.');
        if (!tokens.has(query.get('fb_exchange_token') ?? '')) return tokenOver;
        tokens.set('long-token', PERSON);
        return { json: { access_token: 'long-token', token_type: 'bearer', expires_in: LONG_LIFE_SECONDS } };
      },
      'GET /me': withToken(tokens, (request, owner) => {
        const isPage = PAGES.includes(owner);
        const wantsPage = request.query.get('fields')?.includes('category');
        if (wantsPage && !isPage) return noSuchField('category', 'User');
        return {
          json: { id: owner, name: isPage ? `Page ${owner}` : 'Ada', ...(wantsPage && { category: 'Shop' }) },
        };
      }),
      'GET /me/accounts': withToken(tokens, (request, owner) => {
        if (PAGES.includes(owner)) return noSuchField('accounts', 'Page');
        const wantsToken = request.query.get('fields')?.includes('access_token');
        return graphPage(
          request,
          PAGES.map((id) => ({
            ...{
              id,
              name: `Page ${id}`,
              category: 'Shop',
              link: `https://facebook.com/${id}`,
              followers_count: 9,
            },
            ...(wantsToken ? { access_token: pageToken(id) } : {}),
          })),
        );
      }),
      'GET /*/posts': withToken(tokens, (request, owner, [page]) =>
        owner === page
          ? graphPage(
              request,
              posts
                .filter((post) => post.page === page)
                .toReversed()
                .map(({ id, fields }) => ({ id, ...fields, created_time: '2026-11-01T10:00:00+0000' })),
            )
          : mustBePage,
      ),
      'GET /*/comments': withToken(tokens, (request, owner, [id]) =>
        objectOf(id)?.page === owner
          ? graphPage(
              request,
              comments
                .filter(({ on }) => on === id)
                .map((comment) => ({ ...comment, from: { id: '77', name: 'Bob' }, comment_count: 0 })),
            )
          : unknownObject(id),
      ),
      'POST /*/feed': withToken(tokens, (request, owner, [page = '']) => {
        if (owner !== page) return mustBePage;
        const { message, ...fields } = request.body as { message: string };
        return { json: { id: addPost(page, message, fields) } };
      }),
      'POST /*/comments': withToken(tokens, (request, owner, [id = '']) => {
        if (objectOf(id)?.page !== owner) return mustBePage;
        return { json: { id: addComment(owner, id, (request.body as { message: string }).message) } };
      }),
      'POST /*/messages': withToken(tokens, (request, owner, [page]) => {
        if (owner !== page) return mustBePage;
        const { recipient } = request.body as { recipient: { id: string } };
        return { json: { recipient_id: recipient.id, message_id: 'm_AG5Hz2U' } };
      }),
      'DELETE /*': withToken(tokens, (_request, owner, [id]) => {
        const at = posts.findIndex((post) => post.id === id && post.page === owner);
        if (at < 0) return unknownObject(id);
        posts.splice(at, 1);
        return { json: { success: true } };
      }),
      'GET /*': withToken(tokens, (_request, owner, [id = '']) => {
        if (PAGES.includes(id))
          return { json: { id, ...(owner === PERSON ? { access_token: pageToken(id) } : {}) } };
        return objectOf(id)?.page === owner ? { json: { id } } : unknownObject(id);
      }),
    },
    port,
  );
  return { ...server, tokens, posts, comments, addPost, addComment };
}
