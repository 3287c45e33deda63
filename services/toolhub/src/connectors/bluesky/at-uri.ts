import { Type } from 'typebox';
import { ConnectorError } from '../connector.ts';

/** Where a record is: whose repository, which collection, which key. */
export interface AtUri {
  repo: string;
  collection: string;
  rkey: string;
}

const POST_URI =
  /^at:\/\/(did:[a-z]+:[A-Za-z0-9._:%-]{1,250}|[A-Za-z0-9][A-Za-z0-9.-]{0,252})\/(app\.bsky\.feed\.post)\/([A-Za-z0-9._~:-]{1,512})$/;

export const postUri = Type.String({
  pattern: POST_URI.source,
  maxLength: 1_100,
  description: 'Address of the post (at://…/app.bsky.feed.post/…), as other tools give it.',
});

export function parsePostUri(uri: string): AtUri {
  const [, repo, collection, rkey] = POST_URI.exec(uri) ?? [];
  if (repo === undefined || collection === undefined || rkey === undefined)
    throw new ConnectorError('invalid_arguments', 'the uri is not that of a post');
  return { repo, collection, rkey };
}
