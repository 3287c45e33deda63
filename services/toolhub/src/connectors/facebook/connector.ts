import type { Connector, GuardedFetch, OAuthClient, OAuthProvider, RefreshOutcome } from '../connector.ts';
import { exchangeGraphToken } from '../vendor-api/graph-tokens.ts';
import { defineMetaConnector, type MetaContext } from '../vendor-api/meta.ts';
import { credentialOf, type OAuthCredential } from '../vendor-api/oauth-credential.ts';
import { textOrNull } from '../vendor-api/shape.ts';
import { FACEBOOK_URL, facebook, TITLE } from './api.ts';
import { facebookTools } from './tools.ts';

const TOKEN_PATH = '/oauth/access_token';

const login: OAuthProvider<OAuthCredential> = {
  id: 'facebook',
  title: TITLE,
  authorizeUrl: 'https://www.facebook.com/v24.0/dialog/oauth',
  tokenUrl: `${FACEBOOK_URL}${TOKEN_PATH}`,
  // Every tool but the list itself works with the token of a page, which is read from the list.
  scopes: ['pages_show_list'],
  toolScopes: {
    facebook_list_pages: [],
    facebook_list_posts: ['pages_read_engagement'],
    facebook_list_comments: ['pages_read_engagement', 'pages_read_user_content'],
    facebook_create_post: ['pages_read_engagement', 'pages_manage_posts'],
    facebook_reply_comment: ['pages_read_engagement', 'pages_manage_engagement'],
    facebook_send_message: ['pages_messaging'],
    facebook_delete_post: ['pages_read_engagement', 'pages_manage_posts'],
  },
  scopeSeparator: ',',
  clientAuthentication: 'body',
  async toCredential(grant) {
    const short = credentialOf(grant);
    const { client, fetch, now } = grant;
    const outcome = await exchange(short, { client, fetch, now, url: client.tokenUrl ?? login.tokenUrl });
    return outcome.kind === 'refreshed' ? outcome.credential : short;
  },
};

/** A login gives a token of an hour or two; this makes one of 60 days of it, and of that another. */
function exchange(
  { access_token }: OAuthCredential,
  { client, fetch, now, url }: { client: OAuthClient; fetch: GuardedFetch; now: Date; url: string },
): Promise<RefreshOutcome<OAuthCredential>> {
  const parameters = {
    ...{
      grant_type: 'fb_exchange_token',
      client_id: client.clientId,
      client_secret: client.clientSecret ?? '',
    },
    fb_exchange_token: access_token,
  };
  return exchangeGraphToken({ title: TITLE, url, parameters, fetch, now });
}

async function renew(context: MetaContext): Promise<RefreshOutcome<OAuthCredential>> {
  const { credential, fetch, baseUrl } = context;
  const client = context.oauthClient(login.id);
  if (client === null) return { kind: 'refused', reason: `${TITLE} is not set up on this server` };
  const url = client.tokenUrl ?? `${baseUrl ?? FACEBOOK_URL}${TOKEN_PATH}`;
  return exchange(credential, { client, fetch, now: context.now(), url });
}

export function createFacebookConnector(): Connector {
  return defineMetaConnector({
    ...{ id: 'facebook', title: TITLE, url: FACEBOOK_URL, accountLabel: 'a Facebook account' },
    ...{ login, refresh: renew, readOwnName, tools: facebookTools() },
  });
}

async function readOwnName(context: MetaContext): Promise<string> {
  const { body } = await facebook.call(context, { path: '/me', query: { fields: 'id,name' } });
  const { id, name } = facebook.shape.object(body);
  return textOrNull(name) ?? facebook.shape.text(id);
}
