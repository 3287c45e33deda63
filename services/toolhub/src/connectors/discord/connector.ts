import { type Connector, defineConnector } from '../connector.ts';
import { probeBy, verifyBy } from '../probe.ts';
import {
  callDiscord,
  DISCORD_URL,
  type DiscordContext,
  type DiscordCredential,
  discordCredentialSchema,
  shape,
  TITLE,
} from './api.ts';
import { discordTools } from './tools.ts';

/** A bot, because Discord lets no login of a person read or write messages. */
export function createDiscordConnector(): Connector {
  return defineConnector<DiscordCredential>({
    id: 'discord',
    title: TITLE,
    apiUrl: DISCORD_URL,
    auth: {
      kind: 'token',
      credentialSchema: discordCredentialSchema,
      secretFields: ['/bot_token'],
      accountLabel: () => 'a Discord bot',
    },
    verify: (context) => verifyBy(() => readOwnName(context)),
    health: (context) => probeBy(() => readOwnName(context)),
    tools: discordTools(),
  });
}

async function readOwnName(context: DiscordContext): Promise<string> {
  const { body } = await callDiscord(context, { path: '/users/@me' });
  return shape.text(shape.object(body).username);
}
