import { ConnectorError } from '../connector.ts';
import { type Fields, fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import { type BlueskyContext, callBluesky, sessionOf, shape } from './api.ts';
import { parsePostUri } from './at-uri.ts';

/*
 * What can be read from the accounts' own records where a server has nobody who counts and ranks (an "app view"), or
 * cannot reach it: what people wrote themselves, without the numbers.
 */

const ANCESTORS_MAX = 20;
const OWN_POSTS_READ = 100;

export interface ThreadRecords {
  post: Fields;
  ancestors: Fields[];
  /** Of the account itself alone: nobody there knows who else answered. */
  replies: Fields[];
}

/** A server without an app view says so in these words; one that cannot reach it names the upstream. */
export function lacksAppView(error: unknown): boolean {
  if (!(error instanceof ConnectorError)) return false;
  const { platformCode, message } = error;
  return (
    (platformCode === 'InvalidRequest' && message.includes('No service configured')) ||
    platformCode === 'UpstreamFailure'
  );
}

/** A profile as its owner wrote it. */
export async function readProfileRecord(context: BlueskyContext, who: string): Promise<Fields> {
  const account = await describe(context, who);
  const did = shape.text(account.did);
  const { displayName, description, createdAt } = await readProfileOf(context, did);
  return { did, handle: textOrNull(account.handle), displayName, description, createdAt };
}

async function describe(context: BlueskyContext, repo: string): Promise<Fields> {
  const path = '/xrpc/com.atproto.repo.describeRepo';
  return shape.object((await callBluesky(context, { path, query: { repo } })).body);
}

/** Nobody has to write one. */
async function readProfileOf(context: BlueskyContext, repo: string): Promise<Fields> {
  const query = { repo, collection: 'app.bsky.actor.profile', rkey: 'self' };
  try {
    const { body } = await callBluesky(context, { path: '/xrpc/com.atproto.repo.getRecord', query });
    return fieldsOf(shape.object(body).value);
  } catch (error) {
    if (error instanceof ConnectorError && error.platformCode === 'RecordNotFound') return {};
    throw error;
  }
}

/** A post in the form in which an app view shows it, as far as its record goes. */
export async function readThreadRecords(context: BlueskyContext, uri: string): Promise<ThreadRecords> {
  const authors = new Map<string, Fields>();
  const asPost = async (found: Fields): Promise<Fields> => {
    const { repo } = parsePostUri(shape.text(found.uri));
    const author = authors.get(repo) ?? (await describe(context, repo));
    authors.set(repo, author);
    return { uri: found.uri, cid: found.cid, author, record: found.value };
  };
  const found = await readPostRecord(context, uri);
  const post = await asPost(found);
  const ancestors: Fields[] = [];
  let parent = parentOf(found);
  while (parent !== null && ancestors.length < ANCESTORS_MAX) {
    const above = await readPostRecord(context, parent).catch(ignoreMissing);
    if (above === undefined) break;
    ancestors.unshift(await asPost(above));
    parent = parentOf(above);
  }
  const replies: Fields[] = [];
  for (const one of await listOwnPosts(context))
    if (parentOf(one) === found.uri) replies.push(await asPost(one));
  return { post, ancestors, replies };
}

async function readPostRecord(context: BlueskyContext, uri: string): Promise<Fields> {
  const { repo, collection, rkey } = parsePostUri(uri);
  const path = '/xrpc/com.atproto.repo.getRecord';
  return shape.object((await callBluesky(context, { path, query: { repo, collection, rkey } })).body);
}

async function listOwnPosts(context: BlueskyContext): Promise<Fields[]> {
  const { did: repo } = sessionOf(context.credential);
  const query = { repo, collection: 'app.bsky.feed.post', limit: OWN_POSTS_READ };
  const { body } = await callBluesky(context, { path: '/xrpc/com.atproto.repo.listRecords', query });
  return shape.list(shape.object(body).records).map(fieldsOf);
}

const parentOf = ({ value }: Fields) => textOrNull(fieldsOf(fieldsOf(fieldsOf(value).reply).parent).uri);

/** What was deleted, or lies on another server, ends the way up. */
function ignoreMissing(error: unknown): undefined {
  if (error instanceof ConnectorError && (error.code === 'platform_error' || lacksAppView(error)))
    return undefined;
  throw error;
}
