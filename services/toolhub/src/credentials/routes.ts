import { type App, cursorCodec, listQuery, listSchema, toPage } from '@libs/http';
import { AppError, baseErrors } from '@libs/runtime';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { actorOf, type Outcome } from '../audit/entry.ts';
import type { AuditService } from '../audit/service.ts';
import type { Connector } from '../connectors/connector.ts';
import type { Access } from '../customers/access.ts';
import type { CredentialRecord } from './credential.ts';
import type { CredentialService } from './service.ts';

export interface CredentialRoutesDependencies {
  credentials: CredentialService;
  connectors: readonly Connector[];
  access: Pick<Access, 'customer' | 'sessionOf'>;
  audit: Pick<AuditService, 'record'>;
}

const Record = Type.Object({
  platform: Type.String(),
  account: Type.String({ description: 'What the account is called at the platform.' }),
  status: Type.Enum(['connected', 'expired'], { type: 'string' }),
  expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  updated_at: Type.String({ format: 'date-time' }),
});

const PutQuery = Type.Object(
  {
    verify: Type.Boolean({
      default: true,
      description: 'Whether the credential is tried at the platform first.',
    }),
  },
  { additionalProperties: false },
);
const Params = Type.Object({ platform: Type.String({ pattern: '^[a-z]{1,20}$' }) });
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

export function registerCredentialRoutes(app: App, deps: CredentialRoutesDependencies): void {
  registerReading(app, deps);
  for (const connector of deps.connectors) registerPut(app, connector, deps);
  // The platforms above have schemas of their own; any other name is a resource that does not exist.
  app.put(
    '/api/credentials/:platform',
    { onRequest: deps.access.customer('write'), schema: { hide: true } },
    () => {
      throw baseErrors.not_found();
    },
  );
  registerDelete(app, deps);
}

function registerReading(app: App, { credentials, access }: CredentialRoutesDependencies): void {
  app.get(
    '/api/credentials',
    {
      onRequest: access.customer('read'),
      schema: {
        summary: 'List connected platforms',
        tags: ['Credentials'],
        querystring: listQuery(),
        response: { 200: listSchema(Record) },
      },
    },
    async (request) => {
      const { limit } = request.query;
      const { customerId } = access.sessionOf(request);
      const after = cursor.decode(request.query.cursor)?.platform ?? '';
      const records = await credentials.list({ customerId, after, limit: limit + 1 });
      const page = toPage(records, { limit, cursorOf: ({ platform }) => cursor.encode({ platform }) });
      return { ...page, data: page.data.map(toApi) };
    },
  );
  app.get(
    '/api/credentials/:platform',
    {
      onRequest: access.customer('read'),
      schema: {
        summary: 'Show one connected platform',
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

function registerPut(app: App, connector: Connector, deps: CredentialRoutesDependencies): void {
  const { credentials, access } = deps;
  const platform = connector.id;
  app.put(
    `/api/credentials/${platform}`,
    {
      onRequest: access.customer('write'),
      schema: {
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
      const { customerId } = access.sessionOf(request);
      const { verify } = request.query as { verify: boolean };
      try {
        const record = await credentials.put({ customerId, platform, credential: request.body, verify });
        await recordChange(request, deps, { action: 'credential.connected', platform, outcome: 'success' });
        return toApi(record);
      } catch (error) {
        const outcome = error instanceof AppError ? 'refused' : 'failure';
        await recordChange(request, deps, { action: 'credential.connected', platform, outcome });
        throw error;
      }
    },
  );
}

function registerDelete(app: App, deps: CredentialRoutesDependencies): void {
  const { credentials, access } = deps;
  app.delete(
    '/api/credentials/:platform',
    {
      onRequest: access.customer('write'),
      schema: {
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
      await recordChange(request, deps, { action: 'credential.removed', platform, outcome: 'success' });
      return reply.code(204).send(null);
    },
  );
}

/** Waited for, so that who asks for the log after the answer finds the change in it. */
function recordChange(
  request: FastifyRequest,
  { access, audit }: CredentialRoutesDependencies,
  { action, platform, outcome }: { action: string; platform: string; outcome: Outcome },
): Promise<void> {
  const session = access.sessionOf(request);
  return audit.record([
    {
      customerId: session.customerId,
      actor: actorOf(session),
      action,
      target: platform,
      outcome,
      ip: request.ip,
      requestId: request.id,
    },
  ]);
}
