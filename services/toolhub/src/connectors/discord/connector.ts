import { claimAccount, releaseAccount } from '../../inbound/apps/accounts.ts';
import { type Connector, defineConnector, type RefreshOutcome } from '../connector.ts';
import {
  expiresAt,
  isRefreshableBy,
  oauthSecretFields,
  refreshByGrant,
} from '../vendor-api/oauth-credential.ts';
import { probeBy, verifyBy } from '../vendor-api/probe.ts';
import {
  callDiscord,
  DISCORD_URL,
  type DiscordContext,
  type DiscordCredential,
  discordCredentialSchema,
  isBot,
  shape,
  TITLE,
} from './api.ts';
import { discordLogin, TOKEN_PATH } from './login.ts';
import { discordTools } from './tools.ts';

/** A bot, because Discord lets no login of a person read or write messages; such a login is for what a person may show. */
export function createDiscordConnector(): Connector {
  return defineConnector<DiscordCredential>({
    id: 'discord',
    title: TITLE,
    apiUrl: DISCORD_URL,
    auth: {
      kind: 'token',
      credentialSchema: discordCredentialSchema,
      secretFields: ['/bot_token', ...oauthSecretFields],
      accountLabel: (credential) => (isBot(credential) ? 'a Discord bot' : 'a Discord account'),
      providers: [discordLogin],
    },
    expiresAt: (credential) => (isBot(credential) ? null : expiresAt(credential)),
    isRefreshable: (credential, oauthClient) =>
      !isBot(credential) && isRefreshableBy(credential, oauthClient(discordLogin.id)),
    refresh: renew,
    verify: (context) => verifyBy(() => readOwnName(context)),
    health: (context) => probeBy(() => readOwnName(context)),
    // Interactions are with applications, which a person's login does not prove to hold.
    claim: (tx, { customerId, credential, identity, at }) =>
      claimAccount(tx, {
        ...{ platform: 'discord', customerId, at },
        account: isBot(credential) ? identity : null,
      }),
    forget: (tx, customerId) => releaseAccount(tx, { platform: 'discord', customerId }),
    tools: discordTools(),
  });
}

function renew({ credential, ...context }: DiscordContext): Promise<RefreshOutcome<DiscordCredential>> {
  if (isBot(credential)) return Promise.resolve({ kind: 'refused', reason: 'a bot token is not renewed' });
  // The operator's other address has both, the API and the tokens.
  const tokenUrl = context.baseUrl === null ? discordLogin.tokenUrl : `${context.baseUrl}${TOKEN_PATH}`;
  return refreshByGrant({ ...context, credential }, { ...discordLogin, tokenUrl });
}

/** A bot has the id of its application, by which Discord tells of interactions. */
async function readOwnName(context: DiscordContext): Promise<{ account: string; identity: string }> {
  const { body } = await callDiscord(context, { path: '/users/@me' });
  const { username, id } = shape.object(body);
  return { account: shape.text(username), identity: shape.text(id) };
}
