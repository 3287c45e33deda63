/** Not in the middle of something: there it is the fragment of an address, or part of a name (`C#dev`). */
const HASHTAG = /(?<=^|[\s\p{Ps}\p{Pi}"'])(#[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]{0,99})/u;

/**
 * LinkedIn's own format for the text of posts, in which brackets and some marks have a meaning. Without this a text is
 * cut off at the first of them. Hashtags stay hashtags.
 */
export function littleText(text: string): string {
  return text
    .split(HASHTAG)
    .map((part, index) =>
      index % 2 === 1 ? `{hashtag|\\#|${part.slice(1).replaceAll('_', '\\_')}}` : escapeMarks(part),
    )
    .join('');
}

function escapeMarks(text: string): string {
  return text.replace(/[\\|{}@[\]()<>#*_~]/g, '\\$&');
}
