import Type from 'typebox';
import {
  type Connector,
  ConnectorError,
  defineConnector,
  defineTool,
  pageOf,
  type ToolContext,
} from '../../connectors/connector.ts';

/** What the platform below was asked to do, and how it shall behave. */
export interface PlatformLog {
  calls: { tool: string; args: Record<string, unknown>; account: string; customerId: string | null }[];
  /** How often it was asked how it is. */
  probes: number;
  /** What a note says, or what is said of one that was written, where a test wants more of it. */
  note: string | null;
  /** Runs inside each call, before it answers. */
  during: (call: { tool: string; context: ToolContext }) => Promise<void>;
}

const closed = { additionalProperties: false } as const;

/** A platform that does nothing but remember, with one tool of each class. */
export function testPlatform(id: string): { connector: Connector; log: PlatformLog } {
  const log: PlatformLog = { calls: [], probes: 0, note: null, during: async () => {} };
  const enter = async (tool: string, args: Record<string, unknown>, context: ToolContext) => {
    log.calls.push({ tool, args, account: context.account, customerId: context.customerId });
    await log.during({ tool, context });
  };
  const sent = Type.Object({ number: Type.Integer(), text: Type.Optional(Type.String()) }, closed);
  const write = (verb: string, toolClass: 'W' | 'I' | 'U' | 'D') =>
    defineTool({
      name: `${id}_${verb}_note`,
      title: `${verb} a note`,
      description: `Tries to ${verb} a note.`,
      class: toolClass,
      inputSchema: Type.Object(
        {
          text: Type.String({ minLength: 1, maxLength: 1_000 }),
          tags: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 5 })),
        },
        closed,
      ),
      outputSchema: sent,
      async run(args, context) {
        await enter(`${id}_${verb}_note`, args, context);
        return { number: log.calls.length, ...(log.note === null ? {} : { text: log.note }) };
      },
    });
  const connector = defineConnector({
    id,
    title: id.toUpperCase(),
    auth: { kind: 'token', credentialSchema: Type.Object({}), secretFields: [], accountLabel: () => 'me' },
    tools: [
      defineTool({
        name: `${id}_get_note`,
        title: 'Get a note',
        description: 'Returns a note.',
        class: 'R',
        inputSchema: Type.Object({ number: Type.Integer({ minimum: 1 }) }, closed),
        outputSchema: Type.Object({ number: Type.Integer(), text: Type.String() }, closed),
        async run(args, context) {
          await enter(`${id}_get_note`, args, context);
          return { number: args.number, text: log.note ?? `note ${args.number}` };
        },
      }),
      defineTool({
        name: `${id}_list_notes`,
        title: 'List notes',
        description: 'Lists notes that others wrote.',
        class: 'R',
        list: true,
        untrusted: true,
        inputSchema: Type.Object({}, closed),
        outputSchema: pageOf(Type.Object({ text: Type.String() }, closed)),
        async run(args, context) {
          await enter(`${id}_list_notes`, { ...args }, context);
          return { items: [{ text: 'hello' }], next_cursor: null };
        },
      }),
      write('send', 'W'),
      write('mark', 'I'),
      write('edit', 'U'),
      write('delete', 'D'),
    ],
    verify: async () => ({ kind: 'accepted', account: 'me' }),
    async health() {
      log.probes += 1;
      return { status: 'ok', message: null };
    },
  });
  return { connector, log };
}

export function platformError(): ConnectorError {
  return new ConnectorError('platform_error', 'The chat is closed.', { platformCode: 'chat_closed' });
}
