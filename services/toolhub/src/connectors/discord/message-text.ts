import { type Fields, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';

const EMBEDS_MAX = 10;
const FIELDS_MAX = 25;
const COMPONENTS_MAX = 100;
const NESTING_MAX = 5;
/** What a text consists of where an application builds its message of components. */
const TEXT_DISPLAY = 10;

/** What was forwarded, as it was then; Discord lets one message be forwarded at a time. */
export function forwardedIn(message: Fields): Fields {
  return fieldsOf(fieldsOf(listOf(message.message_snapshots)[0]).message);
}

/**
 * All that people read in a message. Applications write into embeds or components, a poll has its question, and what was
 * forwarded stands in a copy. What Discord shows below a link is not part of it.
 */
export function textOfMessage(message: Fields): string {
  const forwarded = forwardedIn(message);
  return joined([
    textOrNull(message.content) ?? '',
    ...listOf(message.embeds).slice(0, EMBEDS_MAX).map(textOfEmbed),
    textOfComponents(message.components),
    textOfPoll(fieldsOf(message.poll)),
    ...(forwarded.message_snapshots === undefined && Object.keys(forwarded).length > 0
      ? [textOfMessage(forwarded)]
      : []),
  ]);
}

/** Those of applications are `rich`; all others Discord makes of links. */
function textOfEmbed(value: unknown): string {
  const { type, author, title, description, fields, footer } = fieldsOf(value);
  if (type !== undefined && type !== 'rich') return '';
  return joined([
    ...[fieldsOf(author).name, title, description].map((part) => textOrNull(part) ?? ''),
    ...listOf(fields).slice(0, FIELDS_MAX).map(textOfField),
    textOrNull(fieldsOf(footer).text) ?? '',
  ]);
}

function textOfField(field: unknown): string {
  const { name, value } = fieldsOf(field);
  return [name, value].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

function textOfComponents(components: unknown, depth = 0): string {
  if (depth > NESTING_MAX) return '';
  const parts = listOf(components)
    .slice(0, COMPONENTS_MAX)
    .map((component) => {
      const { type, content, components: within } = fieldsOf(component);
      return type === TEXT_DISPLAY ? (textOrNull(content) ?? '') : textOfComponents(within, depth + 1);
    });
  return joined(parts);
}

function textOfPoll({ question, answers }: Fields): string {
  const choices = listOf(answers)
    .slice(0, FIELDS_MAX)
    .map((answer) => textOrNull(fieldsOf(fieldsOf(answer).poll_media).text) ?? '')
    .filter((text) => text !== '');
  return joined([textOrNull(fieldsOf(question).text) ?? '', ...choices.map((text) => `- ${text}`)]);
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
