import {
  type Connector,
  ConnectorError,
  type OAuthGrant,
  type OAuthProvider,
  type RefreshOutcome,
} from '../connector.ts';
import { exchangeGraphToken } from '../vendor-api/graph-tokens.ts';
import { defineMetaConnector, type MetaContext } from '../vendor-api/meta.ts';
import { credentialOf, type OAuthCredential } from '../vendor-api/oauth-credential.ts';
import { fieldsOf, listOf } from '../vendor-api/shape.ts';
import { INSTAGRAM_URL, instagram, TITLE } from './api.ts';
import { instagramTools } from './tools.ts';

/** Tokens are exchanged at addresses without a version. */
const TOKENS_URL = 'https://graph.instagram.com';

const login: OAuthProvider<OAuthCredential> = {
  id: 'instagram',
  title: TITLE,
  authorizeUrl: 'https://www.instagram.com/oauth/authorize',
  tokenUrl: 'https://api.instagram.com/oauth/access_token',
  scopes: ['instagram_business_basic'],
  toolScopes: {
    ...{ instagram_get_profile: [], instagram_list_media: [] },
    instagram_list_comments: ['instagram_business_manage_comments'],
    instagram_publish_media: ['instagram_business_content_publish'],
    instagram_reply_comment: ['instagram_business_manage_comments'],
    instagram_send_message: ['instagram_business_manage_messages'],
  },
  scopeSeparator: ',',
  clientAuthentication: 'body',
  toCredential,
};

/** A login gives a token of an hour, which is exchanged for one of 60 days at once. */
async function toCredential({ answer, client, fetch, now }: OAuthGrant): Promise<OAuthCredential> {
  // The documentation shows the tokens in a list; the server sends them plainly.
  const tokens = 'access_token' in answer ? answer : fieldsOf(listOf(answer.data)[0]);
  const { access_token } = credentialOf({ answer: tokens, now });
  const outcome = await exchangeGraphToken({
    ...{ title: TITLE, fetch, now },
    // An operator whose vendor answers elsewhere has both steps there.
    url: client.tokenUrl ?? `${TOKENS_URL}/access_token`,
    parameters: { grant_type: 'ig_exchange_token', client_secret: client.clientSecret ?? '', access_token },
  });
  if (outcome.kind === 'refused') throw new ConnectorError('platform_unavailable', outcome.reason);
  return outcome.credential;
}

/** Only a token that still works, and is a day old, can be exchanged; no registration is needed for it. */
function renew({ credential, baseUrl, fetch, now }: MetaContext): Promise<RefreshOutcome<OAuthCredential>> {
  return exchangeGraphToken({
    ...{ title: TITLE, fetch, now: now() },
    url: `${baseUrl ?? TOKENS_URL}/refresh_access_token`,
    parameters: { grant_type: 'ig_refresh_token', access_token: credential.access_token },
  });
}

export function createInstagramConnector(): Connector {
  return defineMetaConnector({
    ...{ id: 'instagram', title: TITLE, url: INSTAGRAM_URL, accountLabel: 'an Instagram account' },
    ...{ login, refresh: renew, readOwnName, tools: instagramTools() },
  });
}

async function readOwnName(context: MetaContext): Promise<string> {
  const { body } = await instagram.call(context, { path: '/me', query: { fields: 'id,username' } });
  return `@${instagram.shape.text(instagram.shape.object(body).username)}`;
}
