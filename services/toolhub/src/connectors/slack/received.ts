import { Type } from 'typebox';
import { receivedTool } from '../vendor-api/received-tool.ts';
import { channel } from './ids.ts';
import { messageSchema, readMessage } from './message.ts';

/** Slack's own history is read about once a minute by most apps; what was sent to us can be read at any time. */
export const listReceivedMessages = receivedTool({
  platform: 'slack',
  description:
    'Lists messages that Slack sent here for the account since it was connected, newest first. It asks Slack nothing.',
  channel: { name: 'channel', schema: channel },
  item: {
    ...messageSchema.properties,
    channel: Type.String(),
    received_at: Type.String({ format: 'date-time' }),
  },
  read: ({ channel, receivedAt, message }) => ({
    ...readMessage(message),
    ...{ channel, received_at: receivedAt.toISOString() },
  }),
});
