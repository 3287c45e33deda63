import { type Static, Type } from 'typebox';
import { countOrNull, isFields, listOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, nullableCount, nullableText } from '../vendor-api/tool-schemas.ts';

const CHOICES_MAX = 50;

export const pollSchema = Type.Union([
  Type.Null(),
  closed({
    choices: Type.Array(closed({ text: Type.String(), votes: nullableCount })),
    multiple: Type.Boolean({ description: 'Whether one person may choose several.' }),
    ends_at: nullableText,
    ended: Type.Boolean(),
  }),
]);

/** A question stands in the text of its status, what can be chosen beside it; votes are hidden by some until the end. */
export function readPoll(poll: unknown): Static<typeof pollSchema> {
  if (!isFields(poll)) return null;
  const choices = listOf(poll.options)
    .slice(0, CHOICES_MAX)
    .filter(isFields)
    .map(({ title, votes_count }) => ({ text: textOrNull(title) ?? '', votes: countOrNull(votes_count) }));
  return {
    ...{ choices, multiple: poll.multiple === true },
    ...{ ends_at: textOrNull(poll.expires_at), ended: poll.expired === true },
  };
}
