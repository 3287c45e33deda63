import { ConnectorError, doingNothing } from '../connector.ts';
import { fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import { type BlueskyContext, callBluesky, sessionOf, shape } from './api.ts';
import { parsePostUri } from './at-uri.ts';
import { lacksAppView } from './own-records.ts';
import { recordKeyFor } from './record-keys.ts';
import { facetsOf, mentionedHandles } from './rich-text.ts';

const GRAPHEMES_MAX = 300;
const TEXT_BYTES_MAX = 3_000;
const MENTIONS_MAX = 20;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

interface StrongRef {
  uri: string;
  cid: string;
}

export interface NewPost {
  text: string;
  replyToUri: string | undefined;
  langs: readonly string[] | undefined;
}

export async function publishPost(
  context: BlueskyContext,
  { text, replyToUri, langs }: NewPost,
): Promise<StrongRef> {
  checkLength(text);
  const [reply, dids] = await doingNothing(
    Promise.all([
      replyToUri === undefined ? undefined : replyRefs(context, replyToUri),
      findDids(context, mentionedHandles(text)),
    ]),
  );
  const facets = facetsOf(text, dids);
  const record = {
    $type: 'app.bsky.feed.post',
    text,
    createdAt: context.now().toISOString(),
    ...(facets.length === 0 ? {} : { facets }),
    ...(reply === undefined ? {} : { reply }),
    ...(langs === undefined ? {} : { langs }),
  };
  const { idempotencyKey } = context;
  const repo = sessionOf(context.credential).did;
  const collection = 'app.bsky.feed.post';
  if (idempotencyKey === null) return writeRecord(context, 'createRecord', { repo, collection, record });
  // With a key of the caller's the post gets an address of its own choice, so that a repeat finds what is there.
  const rkey = recordKeyFor(repo, idempotencyKey);
  const known = await doingNothing(findRecord(context, { repo, collection, rkey }));
  return known ?? writeRecord(context, 'putRecord', { repo, collection, rkey, record });
}

/** A like is one record per account and post; finding it there means that there is nothing to do. */
export async function likePost(context: BlueskyContext, uri: string): Promise<void> {
  const { did: repo } = sessionOf(context.credential);
  const collection = 'app.bsky.feed.like';
  // The server's own spelling: an address may name its author by handle or by DID, and both mean one post.
  const subject = await strongRef(context, uri);
  const rkey = recordKeyFor(repo, subject.uri);
  // What a call of ours wrote may be too new for the app view to know.
  if ((await findRecord(context, { repo, collection, rkey })) !== undefined) return;
  if (await isLiked(context, subject.uri)) return;
  const record = { $type: collection, subject, createdAt: context.now().toISOString() };
  await writeRecord(context, 'putRecord', { repo, collection, rkey, record });
}

/** Other apps of the account keep their likes under keys that only an app view finds. */
async function isLiked(context: BlueskyContext, uri: string): Promise<boolean> {
  try {
    const { body } = await callBluesky(context, {
      path: '/xrpc/app.bsky.feed.getPosts',
      query: { uris: uri },
    });
    const [post] = shape.list(shape.object(body).posts);
    return textOrNull(fieldsOf(fieldsOf(post).viewer).like) !== null;
  } catch (error) {
    if (!lacksAppView(error)) throw error;
    return false;
  }
}

/** Deleting what is not there is no error in this protocol; deleting another's is refused before anything is sent. */
export async function deletePost(context: BlueskyContext, uri: string): Promise<void> {
  const { did, handle } = sessionOf(context.credential);
  const { repo, collection, rkey } = parsePostUri(uri);
  if (repo !== did && repo.toLowerCase() !== handle.toLowerCase())
    throw new ConnectorError('invalid_arguments', 'only posts of the connected account can be deleted');
  await callBluesky(context, {
    method: 'POST',
    path: '/xrpc/com.atproto.repo.deleteRecord',
    json: { repo: did, collection, rkey },
    repeatable: true,
  });
}

function checkLength(text: string): void {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX || countGraphemes(text) > GRAPHEMES_MAX)
    throw new ConnectorError(
      'invalid_arguments',
      `a post has at most ${GRAPHEMES_MAX} characters and ${TEXT_BYTES_MAX} bytes`,
    );
}

function countGraphemes(text: string): number {
  let count = 0;
  for (const _ of graphemes.segment(text)) count += 1;
  return count;
}

/** An answer names the post that it answers and the one that the whole thread began with. */
async function replyRefs(
  context: BlueskyContext,
  uri: string,
): Promise<{ parent: StrongRef; root: StrongRef }> {
  const found = await getRecord(context, parsePostUri(uri));
  const parent = refOf(found);
  const root = fieldsOf(fieldsOf(fieldsOf(found.value).reply).root);
  const hasRoot = typeof root.uri === 'string' && typeof root.cid === 'string';
  return { parent, root: hasRoot ? { uri: root.uri as string, cid: root.cid as string } : parent };
}

async function strongRef(context: BlueskyContext, uri: string): Promise<StrongRef> {
  return refOf(await getRecord(context, parsePostUri(uri)));
}

function refOf(found: Readonly<Record<string, unknown>>): StrongRef {
  return { uri: shape.text(found.uri), cid: shape.text(found.cid) };
}

async function getRecord(context: BlueskyContext, at: { repo: string; collection: string; rkey: string }) {
  const query = { repo: at.repo, collection: at.collection, rkey: at.rkey };
  return shape.object((await callBluesky(context, { path: '/xrpc/com.atproto.repo.getRecord', query })).body);
}

async function findRecord(
  context: BlueskyContext,
  at: { repo: string; collection: string; rkey: string },
): Promise<StrongRef | undefined> {
  try {
    return refOf(await getRecord(context, at));
  } catch (error) {
    const isMissing =
      error instanceof ConnectorError && /^(RecordNotFound|InvalidRequest)$/.test(error.platformCode ?? '');
    if (!isMissing) throw error;
    return undefined;
  }
}

async function writeRecord(
  context: BlueskyContext,
  method: 'createRecord' | 'putRecord',
  json: Record<string, unknown>,
): Promise<StrongRef> {
  const request = { method: 'POST', path: `/xrpc/com.atproto.repo.${method}`, json } as const;
  const { body } = await callBluesky(context, { ...request, repeatable: method === 'putRecord' });
  return refOf(shape.object(body));
}

/** Handles that nobody has stay plain text, as they do in Bluesky's own app. */
async function findDids(context: BlueskyContext, handles: readonly string[]): Promise<Map<string, string>> {
  const found = await Promise.all(
    handles.slice(0, MENTIONS_MAX).map(async (handle): Promise<[string, string][]> => {
      try {
        const path = '/xrpc/com.atproto.identity.resolveHandle';
        const { body } = await callBluesky(context, { path, query: { handle } });
        const did = textOrNull(shape.object(body).did);
        return did === null ? [] : [[handle, did]];
      } catch (error) {
        if (error instanceof ConnectorError && error.code === 'platform_error') return [];
        throw error;
      }
    }),
  );
  return new Map(found.flat());
}
