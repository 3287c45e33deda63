import { cursorCodec, listPage, listQuery, listSchema } from '@libs/http';
import { baseErrors } from '@libs/runtime';
import Type from 'typebox';
import type { Connector } from '../connectors/connector.ts';
import type { Access } from '../customers/access.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { CredentialRecord } from './credential.ts';
import type { CredentialService } from './service.ts';

export interface CredentialRoutesDependencies {
  credentials: CredentialService;
  connectors: readonly Connector[];
  access: Pick<Access, 'sessionOf' | 'standingOf'>;
}

const Record = Type.Object(
  {
    platform: Type.String(),
    account: Type.String({ description: 'What the account is called at the platform.' }),
    status: Type.Enum(['connected', 'expired'], { type: 'string' }),
    expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    updated_at: Type.String({ format: 'date-time' }),
  },
  {
    title: 'Credential',
    description: 'An account that is connected; never its secrets.',
    examples: [
      {
        platform: 'slack',
        account: 'ada in Acme',
        status: 'connected',
        expires_at: null,
        updated_at: '2026-11-16T15:04:05.000Z',
      },
    ],
  },
);

const PutQuery = Type.Object(
  {
    verify: Type.Boolean({
      default: true,
      description: 'Whether the credential is tried at the platform first.',
    }),
  },
  { additionalProperties: false },
);
const Params = Type.Object({ platform: Type.String({ pattern: '^[a-z]{1,20}$', examples: ['slack'] }) });
const cursor = cursorCodec(Type.Object({ platform: Type.String({ pattern: '^[a-z]{1,20}$' }) }));

function toApi(record: CredentialRecord) {
  return {
    platform: record.platform,
    account: record.account,
    status: record.status,
    expires_at: record.expiresAt?.toISOString() ?? null,
    updated_at: record.updatedAt.toISOString(),
  };
}

export function registerCredentialRoutes(routes: ToolhubRoutes, deps: CredentialRoutesDependencies): void {
  registerReading(routes, deps);
  for (const connector of deps.connectors) registerPut(routes, connector, deps);
  // The platforms above have schemas of their own; any other name is a resource that does not exist.
  routes.put(
    '/api/credentials/:platform',
    { access: 'account:write', rate: 'api', audit: 'none', idempotency: 'natural', schema: { hide: true } },
    () => {
      throw baseErrors.not_found();
    },
  );
  registerDelete(routes, deps);
}

function registerReading(routes: ToolhubRoutes, { credentials, access }: CredentialRoutesDependencies): void {
  routes.get(
    '/api/credentials',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'credentials.list',
        summary: 'List connected platforms',
        description: 'By name; never a secret.',
        tags: ['Credentials'],
        querystring: listQuery(),
        response: { 200: listSchema(Record) },
      },
    },
    (request) => {
      const { customerId } = access.sessionOf(request);
      return listPage(request.query, {
        cursor,
        read: ({ from, limit }) => credentials.list({ customerId, after: from?.platform ?? '', limit }),
        positionOf: ({ platform }) => ({ platform }),
        show: toApi,
      });
    },
  );
  routes.get(
    '/api/credentials/:platform',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'credentials.get',
        summary: 'Show one connected platform',
        description: 'Whether it works, and when its access ends.',
        tags: ['Credentials'],
        params: Params,
        response: { 200: Record },
      },
    },
    async (request) => {
      const record = await credentials.get(access.sessionOf(request).customerId, request.params.platform);
      if (record === undefined) throw baseErrors.not_found();
      return toApi(record);
    },
  );
}

function registerPut(routes: ToolhubRoutes, connector: Connector, deps: CredentialRoutesDependencies): void {
  const { credentials, access } = deps;
  const platform = connector.id;
  routes.put(
    `/api/credentials/${platform}`,
    {
      access: 'account:write',
      rate: 'dear',
      audit: { action: 'credential.connected', target: platform },
      idempotency: 'natural',
      codes: [
        'credential_rejected',
        'platform_unreachable',
        'address_refused',
        ...(connector.auth.alwaysVerified ? (['verification_required', 'phone_number_taken'] as const) : []),
      ],
      schema: {
        operationId: `credentials.put_${platform}`,
        summary: `Connect ${connector.title}`,
        description:
          'Stores the credential, sealed, after it was tried at the platform. It is never shown again.',
        tags: ['Credentials'],
        querystring: PutQuery,
        body: connector.auth.credentialSchema,
        response: { 200: Record },
      },
    },
    async (request) => {
      const session = access.sessionOf(request);
      const { verify } = request.query as { verify: boolean };
      const record = await credentials.put({
        ...{ customerId: session.customerId, platform, credential: request.body, verify },
        standing: access.standingOf(session),
      });
      return toApi(record);
    },
  );
}

function registerDelete(routes: ToolhubRoutes, deps: CredentialRoutesDependencies): void {
  const { credentials, access } = deps;
  routes.delete(
    '/api/credentials/:platform',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'credential.removed', targetParam: 'platform' },
      idempotency: 'natural',
      schema: {
        operationId: 'credentials.remove',
        summary: 'Disconnect a platform',
        description: 'Deletes the credential and what was stored of the account.',
        tags: ['Credentials'],
        params: Params,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { platform } = request.params;
      const isGone = await credentials.remove(access.sessionOf(request).customerId, platform);
      if (!isGone) throw baseErrors.not_found();
      return reply.code(204).send(null);
    },
  );
}
