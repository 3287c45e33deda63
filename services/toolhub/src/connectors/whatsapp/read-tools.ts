import { Type } from 'typebox';
import { ConnectorError, defineTool, pageOf } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import { momentOf } from '../vendor-api/moment.ts';
import { closed, moment, nullableText, vendorId } from '../vendor-api/tool-schemas.ts';
import type { WhatsappContext } from './api.ts';
import { messageSchema, readStored } from './message.ts';
import { listConversations, listMessages, type NumberKey } from './store.ts';

/** WhatsApp gives no history: these read what came in while the number was connected. */
const PHONE_NUMBER = '\\+?[0-9]{5,20}';
/** Stands for somebody who shows no number (`US.1349…`), for one business or (`US.ENT.1181…`) for several that belong together. */
const USER_ID = '[A-Z]{2}\\.(ENT\\.)?[A-Za-z0-9]{1,128}';
/** Whatever names a person. */
export const CONTACT = `^(${PHONE_NUMBER}|${USER_ID})$`;

const since = Type.Optional(moment('Only from this moment on.'));
const conversationCursor = Type.Object({
  at: Type.String({ format: 'date-time' }),
  contact: Type.String({ maxLength: 512 }),
});
const messageCursor = Type.Object({
  at: Type.String({ format: 'date-time' }),
  messageId: Type.String({ maxLength: 512 }),
});

/** Messages belong to the customer who holds the number; an account in the settings holds none. */
function keyOf({ customerId, credential }: WhatsappContext): NumberKey {
  if (customerId === null)
    throw new ConnectorError('platform_error', 'messages are received for connected customers only', {
      platformCode: 'not_received',
    });
  return { customerId, phoneNumberId: credential.phone_number_id };
}

export const listConversationsTool = defineTool({
  name: 'whatsapp_list_conversations',
  title: 'List conversations',
  description: 'Lists people who wrote to the number since it was connected, the newest message first.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ since }),
  outputSchema: pageOf(
    closed({
      contact: Type.String({
        description:
          'Phone number without +, as WhatsApp writes it; of somebody who shows none the id that stands for them. Messages are sent to either.',
      }),
      name: nullableText,
      last_message_id: Type.String(),
      last_message_at: Type.String(),
    }),
  ),
  async run({ since: from, limit, cursor }, context: WhatsappContext) {
    const before = decodeCursor(conversationCursor, cursor);
    const found = await listConversations(context.database, keyOf(context), {
      since: from === undefined ? undefined : momentOf(from),
      before: before && { at: momentOf(before.at), contact: before.contact },
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return {
      items: page.map(({ contact, name, lastMessageId, lastMessageAt }) => ({
        ...{ contact, name, last_message_id: lastMessageId },
        last_message_at: lastMessageAt.toISOString(),
      })),
      next_cursor: last
        ? encodeCursor({ at: last.lastMessageAt.toISOString(), contact: last.contact })
        : null,
    };
  },
});

export const getMessagesTool = defineTool({
  name: 'whatsapp_get_messages',
  title: 'Read a conversation',
  description: 'Reads what a person wrote to the number since it was connected, newest first.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({
    contact: vendorId(
      'Phone number of the person, or the id that whatsapp_list_conversations shows.',
      CONTACT,
    ),
    since,
  }),
  outputSchema: pageOf(messageSchema),
  async run({ contact, since: from, limit, cursor }, context: WhatsappContext) {
    const before = decodeCursor(messageCursor, cursor);
    const found = await listMessages(context.database, keyOf(context), {
      contact: contact.replace(/^\+(?=[0-9]+$)/, ''),
      since: from === undefined ? undefined : momentOf(from),
      before: before && { at: momentOf(before.at), messageId: before.messageId },
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return {
      items: page.map(readStored),
      next_cursor: last ? encodeCursor({ at: last.sentAt.toISOString(), messageId: last.messageId }) : null,
    };
  },
});
