import Type from 'typebox';
import {
  type Connector,
  defineConnector,
  defineTool,
} from '../../services/toolhub/src/connectors/connector.ts';

/** With the two tools of no platform that is the size of the finished catalogue. */
const TOOLS = 78;
export const CALLED_TOOL = 'bench_send_message_0';
export const CALL_ARGUMENTS = { chat_id: '4711', text: 'Hello there' };
export const ANSWER = { message_id: 1, date: '2026-01-01T00:00:00.000Z' };
export const TOOL_TEXTS = {
  title: 'Send a message',
  description: 'Sends a text message to a chat that the account is a member of, and returns its id and date.',
};

const closed = { additionalProperties: false } as const;

/** A platform that answers at once, so that what is measured is everything around it. */
export function benchPlatform(): Connector {
  return defineConnector({
    id: 'bench',
    title: 'Bench',
    auth: {
      kind: 'token',
      credentialSchema: Type.Object({ token: Type.String() }, closed),
      secretFields: ['/token'],
      accountLabel: () => 'bench',
    },
    tools: Array.from({ length: TOOLS }, (_, index) =>
      defineTool({
        name: `bench_send_message_${index}`,
        ...TOOL_TEXTS,
        class: 'W',
        inputSchema: Type.Object(
          {
            chat_id: Type.String({ minLength: 1, maxLength: 64, description: 'Where to.' }),
            text: Type.String({ minLength: 1, maxLength: 4_096, description: 'What.' }),
            parse_mode: Type.Optional(Type.Enum(['HTML', 'Markdown'], { type: 'string' })),
            reply_to_message_id: Type.Optional(Type.Integer({ minimum: 1 })),
          },
          closed,
        ),
        outputSchema: Type.Object(
          { message_id: Type.Integer(), date: Type.String({ format: 'date-time' }) },
          closed,
        ),
        run: async () => ANSWER,
      }),
    ),
    verify: async () => ({ kind: 'accepted', account: 'bench' }),
    health: async () => ({ status: 'ok', message: null }),
  });
}
