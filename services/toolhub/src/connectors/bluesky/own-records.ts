import { ConnectorError } from '../connector.ts';
import { type Fields, fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import { type BlueskyContext, callBluesky, shape } from './api.ts';

/** A server that keeps accounts and knows nobody who counts and ranks (an "app view") says so in these words. */
export function hasNoAppView(error: unknown): boolean {
  return (
    error instanceof ConnectorError &&
    error.platformCode === 'InvalidRequest' &&
    error.message.includes('No service configured')
  );
}

/** A profile as its owner wrote it, from the account's own records: without the numbers, which nobody there counts. */
export async function readProfileRecord(context: BlueskyContext, who: string): Promise<Fields> {
  const path = '/xrpc/com.atproto.repo.describeRepo';
  const account = shape.object((await callBluesky(context, { path, query: { repo: who } })).body);
  const did = shape.text(account.did);
  const written = await readRecord(context, did);
  const { displayName, description, createdAt } = written;
  return { did, handle: textOrNull(account.handle), displayName, description, createdAt };
}

/** Nobody has to write one. */
async function readRecord(context: BlueskyContext, repo: string): Promise<Fields> {
  const query = { repo, collection: 'app.bsky.actor.profile', rkey: 'self' };
  try {
    const { body } = await callBluesky(context, { path: '/xrpc/com.atproto.repo.getRecord', query });
    return fieldsOf(shape.object(body).value);
  } catch (error) {
    if (error instanceof ConnectorError && error.platformCode === 'RecordNotFound') return {};
    throw error;
  }
}
