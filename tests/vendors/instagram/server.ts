// Instagram's API with Instagram login, written from https://developers.facebook.com/docs/instagram-platform: the methods
// that the connector calls, with the documented answers and errors.
import { graphPage, graphRefusal, tokenOver, unknownObject, withToken } from '../graph.ts';
import { type Reply, startVendorServer, type VendorServer } from '../vendor-server.ts';

export interface InstagramServer extends VendorServer {
  /** Token → id of the account. */
  tokens: Map<string, string>;
  media: { id: string; container: Record<string, unknown> }[];
  comments: { id: string; media: string; text: string }[];
  /** How often a container says that it is not ready, and how it ends. */
  processing: { polls: number; end: string };
  addMedia(caption: string): string;
  addComment(media: string, text: string): string;
}

const LONG_LIFE_SECONDS = 5_184_000;

export async function startInstagram(port = 0): Promise<InstagramServer> {
  const tokens = new Map<string, string>();
  const media: InstagramServer['media'] = [];
  const comments: InstagramServer['comments'] = [];
  const containers = new Map<string, { body: Record<string, unknown>; polls: number }>();
  const processing = { polls: 0, end: 'FINISHED' };
  let next = 17_800_000;
  const newId = () => {
    next += 1;
    return String(next);
  };

  function addMedia(caption: string, container: Record<string, unknown> = {}): string {
    const id = newId();
    media.push({ id, container: { caption, ...container } });
    return id;
  }
  function addComment(on: string, text: string): string {
    const id = newId();
    comments.push({ id, media: on, text });
    return id;
  }
  const longToken = (short: string | null): Reply => {
    if (!tokens.has(short ?? '')) return tokenOver;
    tokens.set('long-token', tokens.get(short ?? '') ?? '');
    return { json: { access_token: 'long-token', token_type: 'bearer', expires_in: LONG_LIFE_SECONDS } };
  };

  const server = await startVendorServer(
    'Instagram',
    {
      'GET /access_token': ({ query }) =>
        query.get('client_secret') === 'client-secret'
          ? longToken(query.get('access_token'))
          : graphRefusal(400, 101, 'Error validating client secret.'),
      'GET /refresh_access_token': ({ query }) => longToken(query.get('access_token')),
      'GET /me': withToken(tokens, (_request, owner) => ({
        json: {
          ...{ id: '999', user_id: owner, username: 'ada', name: 'Ada', account_type: 'BUSINESS' },
          ...{ followers_count: 3, follows_count: 4, media_count: media.length },
        },
      })),
      'GET /me/media': withToken(tokens, (request) =>
        graphPage(
          request,
          media.toReversed().map(({ id, container }) => ({
            ...{ id, caption: container.caption, media_type: 'IMAGE', timestamp: '2026-11-01T10:00:00+0000' },
            ...{ permalink: `https://www.instagram.com/p/${id}/`, like_count: 1, comments_count: 0 },
          })),
        ),
      ),
      'GET /*/comments': withToken(tokens, (request, _owner, [id]) =>
        media.some((one) => one.id === id)
          ? graphPage(
              request,
              comments
                .filter((one) => one.media === id)
                .map((one) => ({ ...one, username: 'bob', like_count: 0 })),
            )
          : unknownObject(id),
      ),
      'POST /*/media': withToken(tokens, (request, owner, [id]) => {
        if (id !== owner) return unknownObject(id);
        const body = request.body as Record<string, unknown>;
        const isCarousel = body.media_type === 'CAROUSEL';
        if (!isCarousel && !body.image_url && !body.video_url)
          return graphRefusal(400, 100, 'The parameter image_url is required');
        const container = newId();
        containers.set(container, { body, polls: 0 });
        return { json: { id: container } };
      }),
      'POST /*/media_publish': withToken(tokens, (request, owner, [id]) => {
        const { creation_id } = request.body as { creation_id: string };
        const container = containers.get(creation_id);
        if (id !== owner || container === undefined) return unknownObject(id);
        if (container.polls <= processing.polls) return graphRefusal(400, 9_007, 'Media ID is not available');
        return { json: { id: addMedia(String(container.body.caption), container.body) } };
      }),
      'POST /*/replies': withToken(tokens, (request, _owner, [id]) => {
        const comment = comments.find((one) => one.id === id);
        if (comment === undefined) return unknownObject(id);
        return { json: { id: addComment(comment.media, (request.body as { message: string }).message) } };
      }),
      'POST /*/messages': withToken(tokens, (request, owner, [id]) => {
        const { recipient } = request.body as { recipient: { id: string } };
        return id === owner
          ? { json: { recipient_id: recipient.id, message_id: 'aWdfZAG1f' } }
          : unknownObject(id);
      }),
      'GET /*': withToken(tokens, (_request, _owner, [id = '']) => {
        const container = containers.get(id);
        if (container === undefined) return unknownObject(id);
        container.polls += 1;
        const code = container.polls > processing.polls ? processing.end : 'IN_PROGRESS';
        return { json: { id, status_code: code, status: `${code}: about the file` } };
      }),
    },
    port,
  );
  return { ...server, tokens, media, comments, processing, addMedia, addComment };
}
