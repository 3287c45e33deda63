import { type Static, Type } from 'typebox';
import { createPostReader, type ReadPost } from '../vendor-api/plain-text.ts';
import { countOrNull, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, nullableCount, nullableText } from '../vendor-api/tool-schemas.ts';
import { shape } from './api.ts';
import { pollSchema, readPoll } from './poll.ts';

export const accountSchema = closed({
  id: Type.String(),
  username: nullableText,
  address: nullableText,
  display_name: nullableText,
  url: nullableText,
});

export const statusSchema = closed({
  id: Type.String(),
  url: nullableText,
  created_at: nullableText,
  account: accountSchema,
  text: Type.String(),
  spoiler_text: nullableText,
  visibility: nullableText,
  language: nullableText,
  reply_to_id: nullableText,
  boosted: Type.Union([
    Type.Null(),
    closed({ id: Type.String(), account: accountSchema, text: Type.String() }),
  ]),
  media: Type.Array(closed({ type: nullableText, url: nullableText, description: nullableText })),
  poll: pollSchema,
  replies: nullableCount,
  boosts: nullableCount,
  favourites: nullableCount,
  favourited: Type.Union([Type.Boolean(), Type.Null()]),
});

export type MastodonStatus = Static<typeof statusSchema>;

export function readAccount(value: unknown): Static<typeof accountSchema> {
  const account = shape.object(value);
  return {
    id: shape.text(account.id),
    username: textOrNull(account.username),
    // `acct` is the address without its server for accounts of the same server.
    address: textOrNull(account.acct),
    display_name: textOrNull(account.display_name),
    url: textOrNull(account.url),
  };
}

export async function readStatus(value: unknown, readPost: ReadPost): Promise<MastodonStatus> {
  const status = shape.object(value);
  const boosted = status.reblog === null || status.reblog === undefined ? null : shape.object(status.reblog);
  return {
    id: shape.text(status.id),
    url: textOrNull(status.url) ?? textOrNull(status.uri),
    created_at: textOrNull(status.created_at),
    account: readAccount(status.account),
    text: await readPost(textOrNull(status.content) ?? ''),
    spoiler_text: textOrNull(status.spoiler_text) || null,
    visibility: textOrNull(status.visibility),
    language: textOrNull(status.language),
    reply_to_id: textOrNull(status.in_reply_to_id),
    boosted: boosted && {
      id: shape.text(boosted.id),
      account: readAccount(boosted.account),
      text: await readPost(textOrNull(boosted.content) ?? ''),
    },
    media: listOf(status.media_attachments).map((item) => {
      const media = fieldsOf(item);
      return {
        type: textOrNull(media.type),
        url: textOrNull(media.url),
        description: textOrNull(media.description),
      };
    }),
    poll: readPoll((boosted ?? status).poll),
    replies: countOrNull(status.replies_count),
    boosts: countOrNull(status.reblogs_count),
    favourites: countOrNull(status.favourites_count),
    favourited: typeof status.favourited === 'boolean' ? status.favourited : null,
  };
}

export type ReadItem<Item> = (value: unknown, readPost: ReadPost) => Promise<Item>;

/** One after the other: a server may send as many and as long ones as it likes, and others get their turn in between. */
export async function readEach<Item>(
  values: readonly unknown[],
  read: ReadItem<Item>,
  readPost = createPostReader(),
): Promise<Item[]> {
  const items: Item[] = [];
  for (const value of values) items.push(await read(value, readPost));
  return items;
}
