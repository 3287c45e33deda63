import { type Connector, defineConnector } from '../connector.ts';
import { placeAt } from '../vendor-api/credential-fields.ts';
import { probeBy, verifyBy } from '../vendor-api/probe.ts';
import {
  callMastodon,
  type MastodonContext,
  type MastodonCredential,
  mastodonCredentialSchema,
  shape,
} from './api.ts';
import { mastodonLogin } from './login.ts';
import { mastodonTools } from './tools.ts';

/** Each account lives on a server of its own; the customer's choice of it passes the guard. */
export function createMastodonConnector(): Connector {
  return defineConnector<MastodonCredential>({
    id: 'mastodon',
    title: 'Mastodon',
    auth: {
      kind: 'oauth',
      credentialSchema: mastodonCredentialSchema,
      secretFields: ['/access_token'],
      accountLabel: ({ instance_url }) => new URL(instance_url).host,
      addresses: ({ instance_url }) => [{ pointer: '/instance_url', ...placeAt(instance_url) }],
      providers: [mastodonLogin],
    },
    verify: (context) => verifyBy(() => readOwnAddress(context)),
    health: (context) => probeBy(() => readOwnAddress(context)),
    tools: mastodonTools(),
  });
}

async function readOwnAddress(context: MastodonContext): Promise<string> {
  const { body } = await callMastodon(context, { path: '/api/v1/accounts/verify_credentials' });
  const { username } = shape.object(body);
  return `@${shape.text(username)}@${new URL(context.credential.instance_url).host}`;
}
