import { type Fields, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';

const ATTACHMENTS_MAX = 20;
/** Of the pieces that one message is made of; Slack itself takes far fewer. */
const PIECES_MAX = 500;
const NESTING_MAX = 10;
/** What Slack writes where an attachment has nothing that old programs could show. */
const NO_FALLBACK = '[no preview available]';

/**
 * All that people read in a message. Apps mostly leave its `text` empty and write into attachments or blocks; whoever forwards a
 * message has it in an attachment. What Slack shows below a link is not part of it.
 */
export function textOfMessage(message: Fields): string {
  const budget = { pieces: PIECES_MAX };
  const own = textOrNull(message.text) ?? '';
  const attached = listOf(message.attachments)
    .slice(0, ATTACHMENTS_MAX)
    .map(fieldsOf)
    .filter((attachment) => !isLinkPreview(attachment))
    .map((attachment) => textOfAttachment(attachment, budget));
  const text = joined([own, ...attached]);
  return text.trim() === '' ? textOfBlocks(message.blocks, budget) : text;
}

function isLinkPreview({ from_url, original_url, is_share }: Fields): boolean {
  return is_share !== true && (typeof from_url === 'string' || typeof original_url === 'string');
}

function textOfAttachment(attachment: Fields, budget: Budget): string {
  const { pretext, title, text, fields, fallback, blocks, message_blocks } = attachment;
  const said = joined([
    ...[pretext, title, text].map((part) => textOrNull(part) ?? ''),
    ...listOf(fields).slice(0, PIECES_MAX).map(textOfField),
  ]);
  if (said !== '') return said;
  const shared = listOf(message_blocks).map((one) => fieldsOf(fieldsOf(one).message).blocks);
  const built = joined([blocks, ...shared].map((some) => textOfBlocks(some, budget)));
  return built === '' && fallback !== NO_FALLBACK ? (textOrNull(fallback) ?? '') : built;
}

function textOfField(field: unknown): string {
  const { title, value } = fieldsOf(field);
  return [title, value].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

interface Budget {
  pieces: number;
}

function textOfBlocks(blocks: unknown, budget: Budget): string {
  return joined(listOf(blocks).map((block) => textOfPiece(block, budget, 0)));
}

/** Within a line its pieces follow each other; everything else stands below each other. */
const LINES: ReadonlySet<unknown> = new Set([
  'rich_text_section',
  'rich_text_quote',
  'rich_text_preformatted',
]);

function textOfPiece(value: unknown, budget: Budget, depth: number): string {
  if (depth > NESTING_MAX || budget.pieces <= 0) return '';
  budget.pieces -= 1;
  const piece = fieldsOf(value);
  const named = mentionIn(piece);
  if (named !== null) return named;
  const own = textOrNull(piece.text);
  const within = own === null ? [piece.text] : [];
  const parts = [...within, ...listOf(piece.fields), ...listOf(piece.elements)];
  const below = parts.map((part) => textOfPiece(part, budget, depth + 1));
  return LINES.has(piece.type) ? below.join('') : joined([own ?? '', ...below]);
}

/** What stands in a text for something else, as Slack writes it in `text`. */
function mentionIn({ type, user_id, channel_id, name, url, text }: Fields): string | null {
  if (type === 'user' && typeof user_id === 'string') return `<@${user_id}>`;
  if (type === 'channel' && typeof channel_id === 'string') return `<#${channel_id}>`;
  if (type === 'emoji' && typeof name === 'string') return `:${name}:`;
  if (type === 'link' && typeof url === 'string') return textOrNull(text) ?? url;
  return null;
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
