import { type Static, type TProperties, Type } from 'typebox';
import type { ArrivedMessage } from '../../inbound/apps/arrived.ts';
import { listReceived } from '../../inbound/apps/received.ts';
import { defineTool, pageOf, type ToolDefinition } from '../connector.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { momentOf } from './moment.ts';
import { closed, moment } from './tool-schemas.ts';

const position = closed({
  at: Type.String({ format: 'date-time' }),
  account: Type.String({ maxLength: 1_100 }),
  key: Type.String({ maxLength: 1_600 }),
});

/** A list of what a vendor sent to the service for the account: it is read from our store and asks nobody. */
export function receivedTool<Properties extends TProperties>(input: {
  platform: string;
  description: string;
  /** The vendor's name for the place where a message was written, and how an id of one looks. */
  channel: { name: string; schema: ReturnType<typeof Type.String> };
  item: Properties;
  read: (received: ArrivedMessage) => Static<ReturnType<typeof closed<Properties>>>;
}): ToolDefinition {
  const { platform, channel } = input;
  return defineTool({
    name: `${platform}_list_received_messages`,
    title: 'List received messages',
    description: input.description,
    class: 'R',
    list: true,
    untrusted: true,
    inputSchema: closed({
      [channel.name]: Type.Optional(channel.schema),
      since: Type.Optional(moment('Only messages from then on.')),
    }),
    outputSchema: pageOf(closed(input.item)),
    async run({ limit, cursor, ...args }, { customerId, database }) {
      const { since, [channel.name]: place } = args as Record<string, string | undefined>;
      const from = decodeCursor(position, cursor);
      // Vendors send to customers' accounts; those of the operator receive nothing.
      if (customerId === null) return { items: [], next_cursor: null };
      const found = await listReceived(database, {
        ...{ customerId, platform, channel: place, limit: limit + 1 },
        since: since === undefined ? undefined : momentOf(since),
        before: from && { sentAt: momentOf(from.at), account: from.account, key: from.key },
      });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        items: page.map(input.read),
        next_cursor:
          last === undefined
            ? null
            : encodeCursor({ at: last.sentAt.toISOString(), account: last.account, key: last.key }),
      };
    },
  });
}
