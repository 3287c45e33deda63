import Type from 'typebox';
import type { Connector } from '../connectors/connector.ts';
import type { ConnectorService } from '../connectors/service.ts';
import type { ToolhubRoutes } from '../route-rules.ts';

const Login = Type.Object({
  provider: Type.String({ description: 'For `provider` of `GET /api/connect/:platform`.' }),
  title: Type.String(),
  registered: Type.Boolean({ description: 'Whether the operator has registered this service there.' }),
  server_parameter: Type.Union([Type.String(), Type.Null()], {
    description: 'What names the server in the address of the login, where accounts live on many servers.',
  }),
});

const Platform = Type.Object(
  {
    platform: Type.String(),
    title: Type.String(),
    logins: Type.Array(Login, { description: 'Ways to connect in the browser; none where keys are pasted.' }),
    credential_schema: Type.Record(Type.String(), Type.Unknown(), {
      description: 'A JSON Schema of what `PUT /api/credentials/:platform` takes.',
    }),
  },
  {
    title: 'ConnectablePlatform',
    description: 'A platform that can be connected, and how.',
    examples: [
      {
        platform: 'telegram',
        title: 'Telegram',
        logins: [],
        credential_schema: { type: 'object', required: ['bot_token'] },
      },
    ],
  },
);

/** What can be connected, and how. */
export function registerPlatformRoutes(
  routes: ToolhubRoutes,
  deps: { definitions: readonly Connector[]; connectors: Pick<ConnectorService, 'oauthClient'> },
): void {
  // The list is the same for everybody as long as the process lives.
  const data = deps.definitions.map(({ id, title, auth }) => ({
    platform: id,
    title,
    logins: (auth.providers ?? []).map((provider) => ({
      provider: provider.id,
      title: provider.title,
      registered: provider.perServer !== undefined || deps.connectors.oauthClient(id, provider.id) !== null,
      server_parameter: provider.perServer?.parameter ?? null,
    })),
    credential_schema: structuredClone(auth.credentialSchema) as Record<string, unknown>,
  }));
  routes.get(
    '/api/platforms',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'platforms.list',
        tags: ['Credentials'],
        summary: 'The platforms, and how each is connected',
        description:
          'Where `logins` has one that is registered, `GET /api/connect/:platform` leads there. A credential that fits the schema works in any case.',
        response: { 200: Type.Object({ data: Type.Array(Platform) }, { title: 'ConnectablePlatformList' }) },
      },
    },
    () => ({ data }),
  );
}
