import { Type } from 'typebox';
import { ConnectorError, defineTool, pageOf, type ToolDefinition } from '../connector.ts';
import { readGraphPage } from '../vendor-api/graph-page.ts';
import { path } from '../vendor-api/path.ts';
import { fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, mediaUrl, message, nullableText, vendorId } from '../vendor-api/tool-schemas.ts';
import { callWhatsapp, shape, type WhatsappContext } from './api.ts';
import { CONTACT, getMessagesTool, listConversationsTool } from './read-tools.ts';

const TEXT_LENGTH_MAX = 4_096;
const CAPTION_LENGTH_MAX = 1_024;
const COMPONENTS_MAX = 20;

const to = vendorId(
  'Phone number of the person, with country code, or the id that whatsapp_list_conversations shows.',
  CONTACT,
);
const messageId = vendorId(
  'Id of a message, as WhatsApp writes it (wamid.…).',
  '^wamid\\.[A-Za-z0-9+/=_-]{1,400}$',
);
const sentProperties = { id: Type.String(), contact: nullableText };
const sentSchema = closed(sentProperties);
const templateSentSchema = closed({
  ...sentProperties,
  status: Type.Union([Type.String(), Type.Null()], {
    description:
      '`accepted`; `held_for_quality_assessment` and `paused` wait and may never be delivered. Null where WhatsApp does not say.',
  }),
});

export function whatsappTools(): ToolDefinition[] {
  return [
    ...[listConversationsTool, getMessagesTool, listTemplates],
    ...[sendMessage, sendTemplate, sendMedia, markRead],
  ];
}

/** Every message leaves by one method of the number. */
async function send(context: WhatsappContext, recipient: string, content: Record<string, unknown>) {
  const { body } = await callWhatsapp(context, {
    method: 'POST',
    path: path`/${context.credential.phone_number_id}/messages`,
    json: {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      ...(isUserId(recipient) ? { recipient } : { to: recipient.replace(/^\+/, '') }),
      ...content,
    },
  });
  const { messages, contacts } = shape.object(body);
  const { id, message_status } = fieldsOf(listOf(messages)[0]);
  const { wa_id, user_id } = fieldsOf(listOf(contacts)[0]);
  return {
    sent: { id: shape.text(id), contact: textOrNull(wa_id) ?? textOrNull(user_id) },
    status: textOrNull(message_status),
  };
}

/** WhatsApp has a field of its own for those who show no phone number. */
function isUserId(recipient: string): boolean {
  return recipient.includes('.');
}

const listTemplates = defineTool({
  name: 'whatsapp_list_templates',
  title: 'List templates',
  description:
    'Lists the message templates of the business account, with their languages and whether WhatsApp approved them.',
  class: 'R',
  list: true,
  inputSchema: closed({}),
  outputSchema: pageOf(
    closed({
      id: Type.String(),
      name: Type.String(),
      language: nullableText,
      status: nullableText,
      category: nullableText,
      components: Type.Array(closed({ type: nullableText, format: nullableText, text: nullableText })),
    }),
  ),
  run(page, context: WhatsappContext) {
    const request = {
      path: path`/${context.credential.business_account_id}/message_templates`,
      query: { fields: 'id,name,language,status,category,components' },
    };
    return readGraphPage(callWhatsapp, context, request, { ...page, shape, read: readTemplate });
  },
});

function readTemplate(value: unknown) {
  const template = shape.object(value);
  return {
    id: shape.text(template.id),
    name: shape.text(template.name),
    language: textOrNull(template.language),
    status: textOrNull(template.status),
    category: textOrNull(template.category),
    components: listOf(template.components).map((item) => {
      const { type, format, text } = fieldsOf(item);
      return { type: textOrNull(type), format: textOrNull(format), text: textOrNull(text) };
    }),
  };
}

const sendMessage = defineTool({
  name: 'whatsapp_send_message',
  title: 'Send a message',
  description:
    'Sends a text to a person who wrote within the last 24 hours; before that only a template may be sent.',
  class: 'W',
  inputSchema: closed({
    to,
    text: message(TEXT_LENGTH_MAX, 'The text.'),
    reply_to_message_id: Type.Optional(messageId),
  }),
  outputSchema: sentSchema,
  async run({ to: recipient, text, reply_to_message_id }, context: WhatsappContext) {
    const { sent } = await send(context, recipient, {
      ...(reply_to_message_id === undefined ? {} : { context: { message_id: reply_to_message_id } }),
      ...{ type: 'text', text: { preview_url: false, body: text } },
    });
    return sent;
  },
});

const sendTemplate = defineTool({
  name: 'whatsapp_send_template',
  title: 'Send a template',
  description: 'Sends an approved template, which also begins a conversation.',
  class: 'W',
  inputSchema: closed({
    to,
    template_name: vendorId('Name of the template.', '^[a-z0-9_]{1,512}$'),
    language: vendorId('Language of the template, for example en_US.', '^[a-z]{2,3}(_[A-Za-z]{2,4})?$'),
    components: Type.Optional(
      Type.Array(Type.Object({ type: Type.String({ maxLength: 50 }) }, { additionalProperties: true }), {
        maxItems: COMPONENTS_MAX,
        description: 'Values for the variables of the template, as WhatsApp documents them.',
      }),
    ),
  }),
  outputSchema: templateSentSchema,
  async run({ to: recipient, template_name: name, language, components }, context: WhatsappContext) {
    const template = { name, language: { code: language }, components };
    const { sent, status } = await send(context, recipient, { type: 'template', template });
    return { ...sent, status };
  },
});

const WITHOUT_CAPTION = ['audio', 'sticker'];

const sendMedia = defineTool({
  name: 'whatsapp_send_media',
  title: 'Send a file',
  description:
    'Sends a picture, video, sound, document or sticker, by a public address or by the id of an uploaded file.',
  class: 'W',
  inputSchema: closed({
    to,
    kind: Type.Enum(['image', 'video', 'audio', 'document', 'sticker'], {
      type: 'string',
      description: 'What it is.',
    }),
    url: Type.Optional(mediaUrl('Public https address from which WhatsApp fetches the file.')),
    media_id: Type.Optional(vendorId('Id of a file that was uploaded to WhatsApp.', '^[0-9]{1,64}$')),
    caption: Type.Optional(message(CAPTION_LENGTH_MAX, 'Text below it; not for audio and stickers.')),
  }),
  outputSchema: sentSchema,
  async run({ to: recipient, kind, url, media_id, caption }, context: WhatsappContext) {
    if ((url === undefined) === (media_id === undefined))
      throw new ConnectorError('invalid_arguments', 'either `url` or `media_id` says which file');
    if (caption !== undefined && WITHOUT_CAPTION.includes(kind))
      throw new ConnectorError('invalid_arguments', `a file of kind ${kind} has no caption`);
    const file = { id: media_id, link: url, caption };
    const { sent } = await send(context, recipient, { type: kind, [kind]: file });
    return sent;
  },
});

const markRead = defineTool({
  name: 'whatsapp_mark_read',
  title: 'Mark a message as read',
  description: 'Shows the person that the message was read, with all before it; once it is, nothing changes.',
  class: 'I',
  inputSchema: closed({ message_id: messageId }),
  outputSchema: closed({ message_id: Type.String(), read: Type.Boolean() }),
  async run({ message_id }, context: WhatsappContext) {
    const { body } = await callWhatsapp(context, {
      method: 'POST',
      path: path`/${context.credential.phone_number_id}/messages`,
      json: { messaging_product: 'whatsapp', status: 'read', message_id },
      repeatable: true,
    });
    return { message_id, read: fieldsOf(body).success === true };
  },
});
