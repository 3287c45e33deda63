import { type Static, Type } from 'typebox';
import { fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, nullableText } from '../vendor-api/tool-schemas.ts';
import { textOfMessage } from './message-text.ts';
import type { StoredMessage } from './store.ts';

export const messageSchema = closed({
  id: Type.String(),
  sent_at: Type.String(),
  type: Type.String({ description: 'text, image, document, reaction, …, as WhatsApp names it.' }),
  text: Type.Union([Type.String(), Type.Null()], {
    description: 'Also of a place, of contacts, of a form or an order: what the person sees of it.',
  }),
  media_id: nullableText,
  mime_type: nullableText,
  reaction: nullableText,
  reply_to_message_id: nullableText,
});

const MEDIA_KINDS = ['image', 'video', 'audio', 'document', 'sticker'] as const;

/** What a person wrote, whichever kind of message it is in. */
export function readStored({ messageId, sentAt, message }: StoredMessage): Static<typeof messageSchema> {
  const part = (name: string) => fieldsOf(message[name]);
  const media = MEDIA_KINDS.map((kind) => part(kind)).find(({ id }) => id !== undefined) ?? {};
  return {
    id: messageId,
    sent_at: sentAt.toISOString(),
    type: textOrNull(message.type) ?? 'unknown',
    text: textOfMessage(message, media.caption),
    media_id: textOrNull(media.id),
    mime_type: textOrNull(media.mime_type),
    reaction: textOrNull(part('reaction').emoji),
    reply_to_message_id: textOrNull(part('reaction').message_id) ?? textOrNull(part('context').id),
  };
}
