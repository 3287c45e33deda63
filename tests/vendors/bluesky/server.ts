// A personal data server written from https://docs.bsky.app/docs/api/at-protocol-xrpc-api: sessions, records and the
// reads that it answers for the network, with the documented errors.
import { createHash } from 'node:crypto';
import {
  type Received,
  type Reply,
  type Route,
  startVendorServer,
  type VendorServer,
} from '../vendor-server.ts';

type Fields = Record<string, unknown>;

interface StoredRecord {
  uri: string;
  cid: string;
  value: Fields;
  author: string;
}

export interface BlueskyServer extends VendorServer {
  addAccount(handle: string, appPassword: string): string;
  /** Access tokens of now are over; refresh tokens still work, once. */
  expireAccess(): void;
  expireRefresh(): void;
  addPost(handle: string, text: string, reply?: { parent: string; root: string }): string;
  /** As an app does it, under a key of its own. */
  addLike(handle: string, uri: string): string;
  notify(handle: string, reason: string): void;
  records: Map<string, StoredRecord>;
  /** How often a password was tried. */
  logins(): number;
}

const failure = (status: number, error: string, message = error): Reply => ({
  status,
  json: { error, message },
});
const cidOf = (value: unknown) =>
  `bafy${createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 40)}`;
const TID = /^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/;

export async function startBluesky(port = 0): Promise<BlueskyServer> {
  const accounts = new Map<string, { did: string; handle: string; password: string }>();
  const records = new Map<string, StoredRecord>();
  const notifications: Fields[] = [];
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  const state = { logins: 0, serial: 0 };

  const jwt = (claims: Fields) => {
    const [head, body] = ['{"alg":"HS256"}', JSON.stringify(claims)].map((part) =>
      Buffer.from(part).toString('base64url'),
    );
    return `${head}.${body}.sig`;
  };

  function sessionFor(did: string): Reply {
    state.serial += 1;
    const accessJwt = jwt({ sub: did, exp: Math.floor(Date.now() / 1_000) + 7_200, jti: state.serial });
    const refreshJwt = jwt({ sub: did, scope: 'refresh', jti: state.serial });
    access.set(accessJwt, did);
    refresh.set(refreshJwt, did);
    const account = [...accounts.values()].find((one) => one.did === did);
    return { json: { did, handle: account?.handle, accessJwt, refreshJwt, active: true } };
  }

  const bearerOf = (request: Received) =>
    /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const signedIn =
    (route: (request: Received, did: string) => Reply): Route =>
    (request) => {
      const token = bearerOf(request);
      if (token === '') return failure(401, 'AuthMissing', 'Authentication Required');
      const did = access.get(token);
      return did === undefined ? failure(400, 'ExpiredToken', 'Token has expired') : route(request, did);
    };

  const authorOf = (did: string) => {
    const account = [...accounts.values()].find((one) => one.did === did);
    return { did, handle: account?.handle ?? 'handle.invalid', displayName: account?.handle.split('.')[0] };
  };
  const likesOf = (uri: string) =>
    [...records.values()].filter(
      (one) => one.uri.includes('.like/') && (one.value.subject as Fields).uri === uri,
    );
  const viewOf = ({ uri, cid, value, author }: StoredRecord, viewer: string) => ({
    ...{ uri, cid, record: value, author: authorOf(author), indexedAt: '2026-11-01T10:00:00.000Z' },
    ...{ replyCount: 0, repostCount: 0, likeCount: likesOf(uri).length },
    viewer: { like: likesOf(uri).find((like) => like.author === viewer)?.uri },
  });
  const posts = () =>
    [...records.values()].filter(({ uri }) => uri.includes('/app.bsky.feed.post/')).toReversed();

  function page<Item>(request: Received, all: readonly Item[]): { items: Item[]; cursor?: string } {
    const from = Number(request.query.get('cursor') ?? 0);
    const limit = Number(request.query.get('limit') ?? 50);
    const items = all.slice(from, from + limit);
    return from + limit < all.length ? { items, cursor: String(from + limit) } : { items };
  }

  const resolve = (actor: string | null) =>
    [...accounts.values()].find(({ did, handle }) => did === actor || handle === actor)?.did;

  function put(did: string, { collection, rkey, record }: Fields): Reply {
    if (!TID.test(String(rkey))) return failure(400, 'InvalidRequest', 'Invalid record key');
    const uri = `at://${did}/${collection}/${rkey}`;
    const stored = { uri, cid: cidOf(record), value: record as Fields, author: did };
    records.set(uri, stored);
    return { json: { uri, cid: stored.cid, validationStatus: 'valid' } };
  }

  const nextKey = () => {
    state.serial += 1;
    const digits = String(state.serial).padStart(12, '0');
    return `3${digits.replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}`;
  };

  const server = await startVendorServer(
    'Bluesky',
    {
      'POST /xrpc/com.atproto.server.createSession': ({ body }) => {
        const { identifier, password } = body as { identifier: string; password: string };
        const account = [...accounts.values()].find(
          ({ handle, did }) => handle === identifier || did === identifier,
        );
        state.logins += 1;
        if (account?.password !== password)
          return failure(401, 'AuthenticationRequired', 'Invalid identifier or password');
        return sessionFor(account.did);
      },
      'POST /xrpc/com.atproto.server.refreshSession': (request) => {
        const token = bearerOf(request);
        const did = refresh.get(token);
        if (did === undefined) return failure(400, 'ExpiredToken', 'Token has been revoked');
        refresh.delete(token);
        return sessionFor(did);
      },
      'GET /xrpc/com.atproto.server.getSession': signedIn((_request, did) => ({ json: authorOf(did) })),
      'GET /xrpc/com.atproto.identity.resolveHandle': ({ query }) => {
        const did = resolve(query.get('handle'));
        return did === undefined
          ? failure(400, 'InvalidRequest', 'Unable to resolve handle')
          : { json: { did } };
      },
      'GET /xrpc/com.atproto.repo.getRecord': ({ query }) => {
        const did = resolve(query.get('repo'));
        const found = records.get(`at://${did}/${query.get('collection')}/${query.get('rkey')}`);
        if (found === undefined) return failure(400, 'RecordNotFound', 'Could not locate record');
        return { json: { uri: found.uri, cid: found.cid, value: found.value } };
      },
      'GET /xrpc/com.atproto.repo.listRecords': ({ query }) => {
        const did = resolve(query.get('repo'));
        const under = `at://${did}/${query.get('collection')}/`;
        const found = [...records.values()].filter(({ uri }) => uri.startsWith(under)).toReversed();
        const shown = found.slice(0, Number(query.get('limit') ?? 50));
        return { json: { records: shown.map(({ uri, cid, value }) => ({ uri, cid, value })) } };
      },
      'GET /xrpc/com.atproto.repo.describeRepo': ({ query }) => {
        const did = resolve(query.get('repo'));
        if (did === undefined) return failure(400, 'RepoNotFound', 'Could not find user');
        const account = [...accounts.values()].find((one) => one.did === did);
        return { json: { did, handle: account?.handle, didDoc: {}, collections: [], handleIsCorrect: true } };
      },
      'POST /xrpc/com.atproto.repo.createRecord': signedIn(({ body }, did) =>
        put(did, { ...(body as Fields), rkey: nextKey() }),
      ),
      'POST /xrpc/com.atproto.repo.putRecord': signedIn(({ body }, did) => put(did, body as Fields)),
      'POST /xrpc/com.atproto.repo.deleteRecord': signedIn(({ body }, did) => {
        const { repo, collection, rkey } = body as Record<string, string>;
        if (repo !== did) return failure(400, 'InvalidRequest', 'Could not find repo');
        records.delete(`at://${did}/${collection}/${rkey}`);
        return { json: {} };
      }),
      'GET /xrpc/app.bsky.actor.getProfile': signedIn(({ query }) => {
        const did = resolve(query.get('actor'));
        if (did === undefined) return failure(400, 'InvalidRequest', 'Profile not found');
        return {
          json: { ...authorOf(did), description: 'me', followersCount: 1, followsCount: 2, postsCount: 3 },
        };
      }),
      'GET /xrpc/app.bsky.feed.getTimeline': signedIn((request, did) => {
        const { items, cursor } = page(request, posts());
        return { json: { feed: items.map((post) => ({ post: viewOf(post, did) })), cursor } };
      }),
      'GET /xrpc/app.bsky.feed.searchPosts': signedIn((request, did) => {
        const wanted = request.query.get('q') ?? '';
        const { items, cursor } = page(
          request,
          posts().filter(({ value }) => String(value.text).includes(wanted)),
        );
        return { json: { posts: items.map((post) => viewOf(post, did)), cursor } };
      }),
      'GET /xrpc/app.bsky.feed.getPosts': signedIn(({ query }, did) => {
        // It leaves out what it does not have.
        const found = query.getAll('uris').flatMap((uri) => records.get(uri) ?? []);
        return { json: { posts: found.map((post) => viewOf(post, did)) } };
      }),
      'GET /xrpc/app.bsky.feed.getPostThread': signedIn(({ query }, did) => {
        const post = records.get(query.get('uri') ?? '');
        if (post === undefined) return failure(400, 'NotFound', 'Post not found');
        const parentOf = (one: StoredRecord) =>
          records.get(String(((one.value.reply as Fields)?.parent as Fields)?.uri));
        const parent = parentOf(post);
        const replies = posts().filter((one) => parentOf(one)?.uri === post.uri);
        return {
          json: {
            thread: {
              post: viewOf(post, did),
              ...(parent ? { parent: { post: viewOf(parent, did) } } : {}),
              replies: replies.map((one) => ({ post: viewOf(one, did), replies: [] })),
            },
          },
        };
      }),
      'GET /xrpc/app.bsky.notification.listNotifications': signedIn((request) => {
        const { items, cursor } = page(request, notifications);
        return { json: { notifications: items, cursor } };
      }),
    },
    port,
  );

  return Object.assign(server, {
    records,
    logins: () => state.logins,
    addAccount(handle: string, password: string) {
      const did = `did:plc:${createHash('sha256').update(handle).digest('hex').slice(0, 24)}`;
      accounts.set(handle, { did, handle, password });
      return did;
    },
    expireAccess: () => access.clear(),
    expireRefresh: () => refresh.clear(),
    addPost(handle: string, text: string, reply?: { parent: string; root: string }) {
      const ref = (uri: string) => ({ uri, cid: records.get(uri)?.cid });
      const value = {
        ...{ $type: 'app.bsky.feed.post', text, createdAt: '2026-11-01T10:00:00.000Z' },
        ...(reply ? { reply: { parent: ref(reply.parent), root: ref(reply.root) } } : {}),
      };
      const answer = put(resolve(handle) as string, {
        collection: value.$type,
        rkey: nextKey(),
        record: value,
      });
      return String((answer.json as Fields).uri);
    },
    addLike(handle: string, uri: string) {
      const collection = 'app.bsky.feed.like';
      const subject = { uri, cid: records.get(uri)?.cid };
      const record = { $type: collection, subject, createdAt: '2026-11-01T10:00:00.000Z' };
      const { json } = put(resolve(handle) as string, { collection, rkey: nextKey(), record });
      return String((json as Fields).uri);
    },
    notify(handle: string, reason: string) {
      const author = authorOf(resolve(handle) as string);
      const record = { $type: 'app.bsky.feed.like' };
      const uri = `at://${author.did}/app.bsky.feed.like/${nextKey()}`;
      notifications.unshift({
        uri,
        reason,
        author,
        record,
        isRead: notifications.length > 0,
        indexedAt: '2026-11-01T10:00:00.000Z',
      });
    },
  }) as BlueskyServer;
}
