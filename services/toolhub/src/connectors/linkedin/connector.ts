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
import { LINKEDIN_URL, type LinkedinContext, readPerson, TITLE } from './api.ts';
import { linkedinTools } from './tools.ts';

const login: OAuthProvider<OAuthCredential> = {
  id: 'linkedin',
  title: TITLE,
  authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization',
  tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
  scopes: ['openid', 'profile'],
  toolScopes: {
    linkedin_get_profile: [],
    // It needs r_member_social, but LinkedIn refuses the whole login of an app that lacks it.
    linkedin_list_comments: [],
    linkedin_create_post: ['w_member_social'],
    linkedin_create_comment: ['w_member_social'],
    linkedin_delete_post: ['w_member_social'],
  },
  clientAuthentication: 'body',
  // Its web login answers a request with a verifier by `invalid_client`.
  pkce: false,
  toCredential: (grant) => credentialOf(grant),
};

export function createLinkedinConnector(): Connector {
  return defineConnector<OAuthCredential>({
    id: 'linkedin',
    title: TITLE,
    apiUrl: LINKEDIN_URL,
    auth: {
      kind: 'oauth',
      credentialSchema: oauthCredentialSchema,
      secretFields: oauthSecretFields,
      accountLabel: () => 'a LinkedIn account',
      providers: [login],
    },
    expiresAt,
    isRefreshable: (credential, oauthClient) => isRefreshableBy(credential, oauthClient(login.id)),
    refresh: (context) => refreshByGrant(context, login),
    verify: (context) => verifyBy(() => readOwnName(context)),
    health: (context) => probeBy(() => readOwnName(context)),
    tools: linkedinTools(),
  });
}

async function readOwnName(context: LinkedinContext): Promise<string> {
  const { id, name } = await readPerson(context);
  return name ?? id;
}
