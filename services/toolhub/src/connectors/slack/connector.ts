import { claimAccount, releaseAccount } from '../../inbound/apps/accounts.ts';
import { type Connector, defineConnector, type OAuthProvider } from '../connector.ts';
import {
  credentialOf,
  expiresAt,
  isRefreshableBy,
  type OAuthCredential,
  oauthCredentialSchema,
  oauthSecretFields,
  refreshByGrant,
} from '../vendor-api/oauth-credential.ts';
import { probeBy, verifyBy } from '../vendor-api/probe.ts';
import { isFields, textOrNull } from '../vendor-api/shape.ts';
import { callSlack, SLACK_URL, type SlackContext, shape, TITLE } from './api.ts';
import { slackTools } from './tools.ts';

const HISTORY = ['channels:history', 'groups:history', 'im:history', 'mpim:history'];

/** The login gives a person's token, because only people may search. */
const login: OAuthProvider<OAuthCredential> = {
  id: 'slack',
  title: TITLE,
  authorizeUrl: 'https://slack.com/oauth/v2_user/authorize',
  tokenUrl: `${SLACK_URL}/oauth.v2.user.access`,
  scopes: [],
  toolScopes: {
    slack_list_channels: ['channels:read', 'groups:read'],
    slack_get_messages: HISTORY,
    slack_get_thread: HISTORY,
    slack_search_messages: ['search:read'],
    slack_list_received_messages: HISTORY,
    slack_find_users: ['users:read', 'users:read.email'],
    slack_send_message: ['chat:write'],
    slack_add_reaction: ['reactions:write'],
    slack_delete_message: ['chat:write'],
  },
  scopeSeparator: ',',
  clientAuthentication: 'body',
  toCredential({ answer, now }) {
    // Where an app has a bot, too, the person's tokens are one level down.
    const { authed_user: person } = answer;
    return credentialOf({ answer: isFields(person) && 'access_token' in person ? person : answer, now });
  },
};

export function createSlackConnector(): Connector {
  return defineConnector<OAuthCredential>({
    id: 'slack',
    title: TITLE,
    apiUrl: SLACK_URL,
    auth: {
      kind: 'oauth',
      credentialSchema: oauthCredentialSchema,
      secretFields: oauthSecretFields,
      accountLabel: () => 'a Slack account',
      providers: [login],
    },
    expiresAt,
    isRefreshable: (credential, oauthClient) => isRefreshableBy(credential, oauthClient(login.id)),
    refresh: (context) =>
      refreshByGrant(context, { ...login, tokenUrl: `${context.baseUrl ?? SLACK_URL}/oauth.v2.access` }),
    verify: (context) => verifyBy(() => readOwnName(context)),
    health: (context) => probeBy(() => readOwnName(context)),
    claim: (tx, { customerId, identity, at }) =>
      claimAccount(tx, { platform: 'slack', account: identity, customerId, at }),
    forget: (tx, customerId) => releaseAccount(tx, { platform: 'slack', customerId }),
    tools: slackTools(),
  });
}

/** Slack tells of messages by workspace and person, which is what the identity is made of. */
async function readOwnName(context: SlackContext): Promise<{ account: string; identity: string }> {
  const { body } = await callSlack(context, { path: '/auth.test' });
  const { user, team, ...ids } = shape.object(body);
  const [userId, teamId] = [shape.text(ids.user_id), shape.text(ids.team_id)];
  return {
    account: `${textOrNull(user) ?? userId} in ${textOrNull(team) ?? teamId}`,
    identity: `${teamId}/${userId}`,
  };
}
