// Links, mentions and hashtags in a post are marked beside its text, by positions in its UTF-8 form:
// https://docs.bsky.app/docs/advanced-guides/post-richtext

import { hasPublicEnding } from './public-endings.ts';

export interface Facet {
  index: { byteStart: number; byteEnd: number };
  features: { $type: string; uri?: string; did?: string; tag?: string }[];
}

const LINK = /(?<=^|[\s(])https?:\/\/[^\s<>"]{1,2000}/gi;
/**
 * A name without its `https://`, as people write it. Not the beginning of a longer one, nor the name before an `@`;
 * what follows it belongs to it from a slash, a question mark, a hash or a port on.
 */
const NAME =
  /(?<=^|[\s(])([a-z][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){1,8})(?!\.?[\p{L}\p{N}@_-])(?::\d{1,5})?(?:[/?#][^\s<>"]{0,2000})?/giu;
const MENTION = /(?<=^|[\s(])@([a-zA-Z0-9](?:[a-zA-Z0-9-]{0,62})(?:\.[a-zA-Z0-9-]{1,63}){1,8})/g;
/** What is not seen ends a tag, as a space does; `#` before U+FE0F is an emoji, the key of a telephone. */
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each of these ends a tag by itself.
const TAG = /(?<=^|\s)[#＃](?!\ufe0f)([^\s\u00ad\u2060\u200b-\u200d\u20e2]+)/gu;
const TAG_LENGTH_MAX = 64;
const FACETS_MAX = 100;

/** Handles that a text mentions, each once. */
export function mentionedHandles(text: string): string[] {
  return [...new Set([...text.matchAll(MENTION)].map((match) => (match[1] as string).toLowerCase()))];
}

/** `dids` has the handles that exist; a mention of any other stays plain text. */
export function facetsOf(text: string, dids: ReadonlyMap<string, string>): Facet[] {
  const links = [...text.matchAll(LINK)].flatMap((match) => {
    const uri = withoutTrailingMarks(match[0]);
    if (!leadsSomewhere(uri)) return [];
    return [facet(text, { start: match.index, part: uri }, { $type: 'app.bsky.richtext.facet#link', uri })];
  });
  // As Bluesky's own apps have it: they mark a name whose ending is a public one, and lead there by https.
  const names = [...text.matchAll(NAME)].flatMap((match) => {
    const part = withoutTrailingMarks(match[0]);
    const uri = `https://${part}`;
    if (!hasPublicEnding(match[1] as string) || !URL.canParse(uri)) return [];
    return [facet(text, { start: match.index, part }, { $type: 'app.bsky.richtext.facet#link', uri })];
  });
  const mentions = [...text.matchAll(MENTION)].flatMap((match) => {
    const did = dids.get((match[1] as string).toLowerCase());
    if (did === undefined) return [];
    return [
      facet(text, { start: match.index, part: match[0] }, { $type: 'app.bsky.richtext.facet#mention', did }),
    ];
  });
  const tags = [...text.matchAll(TAG)].flatMap((match) => {
    const tag = (match[1] as string).replace(/\p{P}+$/u, '');
    if (!isTag(tag)) return [];
    const part = `${match[0].charAt(0)}${tag}`;
    return [facet(text, { start: match.index, part }, { $type: 'app.bsky.richtext.facet#tag', tag })];
  });
  return [...links, ...names, ...mentions, ...tags]
    .sort((a, b) => a.index.byteStart - b.index.byteStart)
    .filter(
      (one, position, all) =>
        position === 0 || one.index.byteStart >= (all[position - 1] as Facet).index.byteEnd,
    )
    .slice(0, FACETS_MAX);
}

function facet(
  text: string,
  { start, part }: { start: number; part: string },
  feature: Facet['features'][number],
): Facet {
  const byteStart = Buffer.byteLength(text.slice(0, start));
  return { index: { byteStart, byteEnd: byteStart + Buffer.byteLength(part) }, features: [feature] };
}

/** As Bluesky's own apps have it: a number is none, and one that is too long is text, since a part of it is another tag. */
function isTag(tag: string): boolean {
  return /[^\d\p{P}]/u.test(tag) && tag.length <= TAG_LENGTH_MAX;
}

/** Bluesky refuses the whole post for one link without a host (`https://...`). */
function leadsSomewhere(uri: string): boolean {
  return /^https?:\/\/[^/]/i.test(uri) && URL.canParse(uri);
}

/** Punctuation after an address ends the sentence, not the address; a bracket stays where it was opened inside. */
function withoutTrailingMarks(address: string): string {
  const trimmed = address.replace(/[.,;:!?'"]+$/, '');
  return trimmed.endsWith(')') && !trimmed.includes('(') ? trimmed.slice(0, -1) : trimmed;
}
