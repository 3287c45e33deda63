import { type Fields, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import { shape } from './api.ts';

const LINKS_MAX = 100;
const ESCAPED: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/**
 * What people read in a post: X writes three characters as in HTML, and in the place of each link one of its own (`https://t.co/…`)
 * that says nothing of where it leads.
 */
export function textOfPost(post: Fields): string {
  const long = fieldsOf(post.note_tweet);
  // Posts beyond 280 characters have their whole text elsewhere.
  const isLong = typeof long.text === 'string';
  const text = shape.text(isLong ? long.text : post.text);
  return withLinks(unescaped(text), isLong ? long.entities : post.entities);
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt);/g, (mark) => ESCAPED[mark] ?? mark);
}

function withLinks(text: string, entities: unknown): string {
  const targets = new Map(
    listOf(fieldsOf(entities).urls)
      .slice(0, LINKS_MAX)
      .map(fieldsOf)
      .map(({ url, expanded_url }) => [textOrNull(url), textOrNull(expanded_url)]),
  );
  return text.replaceAll(/https:\/\/t\.co\/[A-Za-z0-9]{1,40}/g, (link) => targets.get(link) ?? link);
}
