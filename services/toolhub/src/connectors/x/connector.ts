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
import { callX, shape, TITLE, X_URL, type XContext } from './api.ts';
import { xTools } from './tools.ts';

const TOKEN_PATH = '/2/oauth2/token';

const login: OAuthProvider<OAuthCredential> = {
  id: 'x',
  title: TITLE,
  authorizeUrl: 'https://x.com/i/oauth2/authorize',
  tokenUrl: `${X_URL}${TOKEN_PATH}`,
  // Without offline.access there is no refresh token, and the customer would have to come back every two hours. X wants
  // both scopes of reading for every request that names a person.
  scopes: ['tweet.read', 'users.read', 'offline.access'],
  toolScopes: {
    ...{ x_get_profile: [], x_search_posts: [], x_list_mentions: [], x_get_post: [] },
    x_create_post: ['tweet.write'],
    x_send_direct_message: ['dm.read', 'dm.write'],
    x_delete_post: ['tweet.write'],
  },
  clientAuthentication: 'basic',
  toCredential: (grant) => credentialOf(grant),
};

export function createXConnector(): Connector {
  return defineConnector<OAuthCredential>({
    id: 'x',
    title: TITLE,
    apiUrl: X_URL,
    auth: {
      kind: 'oauth',
      credentialSchema: oauthCredentialSchema,
      secretFields: oauthSecretFields,
      accountLabel: () => 'an X account',
      providers: [login],
    },
    expiresAt,
    isRefreshable: (credential, oauthClient) => isRefreshableBy(credential, oauthClient(login.id)),
    refresh: (context) =>
      refreshByGrant(context, { ...login, tokenUrl: `${context.baseUrl ?? X_URL}${TOKEN_PATH}` }),
    verify: (context) => verifyBy(() => readOwnName(context)),
    health: (context) => probeBy(() => readOwnName(context)),
    tools: xTools(),
  });
}

async function readOwnName(context: XContext): Promise<string> {
  const { body } = await callX(context, { path: '/2/users/me' });
  return `@${shape.text(shape.object(shape.object(body).data).username)}`;
}
