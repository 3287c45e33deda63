import { type Connector, defineConnector } from '../connector.ts';
import { placeAt } from '../vendor-api/credential-fields.ts';
import { probeBy, verifyBy } from '../vendor-api/probe.ts';
import {
  type BlueskyCredential,
  blueskyCredentialSchema,
  callBluesky,
  logIn,
  renewSession,
  sessionEnd,
  shape,
} from './api.ts';
import { blueskyTools } from './tools.ts';

/**
 * The customer gives an app password; what calls carry is a session that the server makes of it. The first call finds
 * none and is renewed like a token that ended, so that all processes together log in once.
 */
export function createBlueskyConnector(): Connector {
  return defineConnector<BlueskyCredential>({
    id: 'bluesky',
    title: 'Bluesky',
    auth: {
      kind: 'token',
      credentialSchema: blueskyCredentialSchema,
      secretFields: ['/app_password', '/session/access_jwt', '/session/refresh_jwt'],
      accountLabel: ({ identifier }) => identifier,
      addresses: ({ service }) => [{ pointer: '/service', ...placeAt(service) }],
    },
    expiresAt: sessionEnd,
    isRefreshable: () => true,
    refresh: renewSession,
    verify: (context) => verifyBy(async () => `@${(await logIn(context)).handle}`),
    health: (context) =>
      probeBy(async () => {
        const { body } = await callBluesky(context, { path: '/xrpc/com.atproto.server.getSession' });
        return `@${shape.text(shape.object(body).handle)}`;
      }),
    tools: blueskyTools(),
  });
}
