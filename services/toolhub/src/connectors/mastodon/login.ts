import { ConnectorError, type OAuthProvider, type ServerRegistration } from '../connector.ts';
import { readJsonAnswer } from '../vendor-api/answer.ts';
import { textOrNull } from '../vendor-api/shape.ts';
import { readTokens } from '../vendor-api/tokens.ts';
import { type MastodonCredential, TITLE } from './api.ts';

const TOKEN_PATH = '/oauth/token';
const FORM = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
const CLIENT_TEXT = /^[!-~]{1,2048}$/;

/** All that a login may ask for one day; each asks for what it needs. */
function allScopes({ scopes, toolScopes = {} }: Pick<OAuthProvider, 'scopes' | 'toolScopes'>): string {
  return [...new Set([...scopes, ...Object.values(toolScopes).flat()])].join(' ');
}

/** Any customer's server may be asked by anybody, so nothing of it is believed but the client that it makes. */
const registration: ServerRegistration = {
  parameter: 'instance_url',
  async register({ address, redirectUri, website, fetch, provider }) {
    const response = await fetch(new URL('/api/v1/apps', address), {
      method: 'POST',
      headers: FORM,
      body: new URLSearchParams({
        ...{ client_name: 'Toolhub', redirect_uris: redirectUri, website },
        scopes: allScopes(provider),
      }).toString(),
    });
    if (!response.ok) throw notAServer(`answered ${response.status} to the registration`);
    const answer = await readJsonAnswer(response, TITLE);
    const [clientId, clientSecret] = [textOrNull(answer.client_id), textOrNull(answer.client_secret)];
    if (clientId === null || clientSecret === null) throw notAServer('sent no client');
    if (!CLIENT_TEXT.test(clientId) || !CLIENT_TEXT.test(clientSecret))
      throw notAServer('sent a client of no use');
    return { clientId, clientSecret };
  },
  /** Servers delete clients without tokens after a day; asking for a token of its own shows, and keeps, it. */
  async isRegistered({ clientId, clientSecret }, { address, fetch, redirectUri, provider }) {
    const response = await fetch(new URL(TOKEN_PATH, address), {
      method: 'POST',
      headers: FORM,
      body: new URLSearchParams({
        ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
        // Without a scope a server takes `read`, which was not registered, and refuses. All of them show that a
        // registration covers what logins ask for today.
        ...{ redirect_uri: redirectUri, scope: allScopes(provider) },
      }).toString(),
    });
    if (response.status >= 500 || response.status === 429) throw notAServer(`answered ${response.status}`);
    return response.ok;
  },
};

function notAServer(what: string): ConnectorError {
  return new ConnectorError('platform_unavailable', `the ${TITLE} server ${what}`);
}

export const mastodonLogin: OAuthProvider<MastodonCredential> = {
  id: 'mastodon',
  title: TITLE,
  authorizeUrl: '/oauth/authorize',
  tokenUrl: TOKEN_PATH,
  perServer: registration,
  scopes: ['read:accounts'],
  toolScopes: {
    mastodon_get_timeline: ['read:statuses'],
    mastodon_search: ['read:search'],
    mastodon_get_thread: ['read:statuses'],
    mastodon_list_notifications: ['read:notifications'],
    // An answer is for no more people than what it answers, which is read for that.
    mastodon_create_status: ['write:statuses', 'read:statuses'],
    mastodon_favourite_status: ['write:favourites'],
    mastodon_delete_status: ['write:statuses'],
  },
  clientAuthentication: 'body',
  toCredential({ answer, now, server }) {
    if (server === null) throw new Error('a login at Mastodon is one at a server');
    return { instance_url: server, access_token: readTokens(answer, now).accessToken };
  },
};
