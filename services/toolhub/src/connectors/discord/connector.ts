import { claimAccount, releaseAccount } from '../../inbound/apps/accounts.ts';
import { type Connector, defineConnector } from '../connector.ts';
import { probeBy, verifyBy } from '../vendor-api/probe.ts';
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
    claim: (tx, { customerId, identity, at }) =>
      claimAccount(tx, { platform: 'discord', account: identity, customerId, at }),
    forget: (tx, customerId) => releaseAccount(tx, { platform: 'discord', customerId }),
    tools: discordTools(),
  });
}

/** A bot has the id of its application, by which Discord tells of interactions. */
async function readOwnName(context: DiscordContext): Promise<{ account: string; identity: string }> {
  const { body } = await callDiscord(context, { path: '/users/@me' });
  const { username, id } = shape.object(body);
  return { account: shape.text(username), identity: shape.text(id) };
}
