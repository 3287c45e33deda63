import { type Static, Type } from 'typebox';
import { type Fields, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, nullableText } from '../vendor-api/tool-schemas.ts';
import { authorSchema, readAuthor } from './author.ts';

const LINKS_MAX = 50;
const MEDIA_MAX = 20;

export const embedProperties = {
  links: Type.Array(Type.String(), {
    description: 'Where the links of the post lead; its text shows most of them shortened.',
  }),
  media: Type.Array(
    closed({ kind: Type.String({ description: 'image or video' }), alt: nullableText, url: nullableText }),
  ),
  quoted: Type.Union([
    Type.Null(),
    closed({ uri: Type.String(), author: Type.Union([authorSchema, Type.Null()]), text: nullableText }),
  ]),
};

const embedSchema = closed(embedProperties);

/**
 * What people see of a post beside its text. `post` is as an app view shows it; of a record alone addresses of pictures and
 * the text of what is quoted are not known.
 */
export function readEmbeds(post: Fields): Static<typeof embedSchema> {
  const record = fieldsOf(post.record);
  const embed = fieldsOf(post.embed ?? record.embed);
  // A quotation may stand beside pictures, a video or a card.
  const parts = [embed, fieldsOf(embed.media)];
  const marked = listOf(record.facets).flatMap((facet) => listOf(fieldsOf(facet).features));
  const cards = parts.map(({ external }) => external);
  const links = [...marked, ...cards].flatMap((one) => textOrNull(fieldsOf(one).uri) ?? []);
  return {
    links: [...new Set(links)].slice(0, LINKS_MAX),
    media: parts.flatMap(mediaOf).slice(0, MEDIA_MAX),
    quoted: quotedIn(embed),
  };
}

function mediaOf({ $type, images, items, alt, playlist }: Fields) {
  const type = textOrNull($type) ?? '';
  if (type.startsWith('app.bsky.embed.video'))
    return [{ kind: 'video', alt: textOrNull(alt), url: textOrNull(playlist) }];
  // Up to four pictures, or a gallery of more.
  const pictures = type.startsWith('app.bsky.embed.gallery') ? items : images;
  return listOf(pictures)
    .map(fieldsOf)
    .map((picture) => ({
      ...{ kind: 'image', alt: textOrNull(picture.alt), url: textOrNull(picture.fullsize) },
    }));
}

/** Of what was deleted, or is blocked, the address alone is known. */
function quotedIn({ record }: Fields): Static<typeof embedSchema>['quoted'] {
  const direct = fieldsOf(record);
  const { uri, author, value } = typeof direct.uri === 'string' ? direct : fieldsOf(direct.record);
  if (typeof uri !== 'string') return null;
  return {
    uri,
    author: typeof fieldsOf(author).did === 'string' ? readAuthor(author) : null,
    text: textOrNull(fieldsOf(value).text),
  };
}
