import { type App, cursorCodec, listQuery, listSchema, toPage } from '@libs/http';
import Type from 'typebox';
import { actorOf } from '../audit/entry.ts';
import type { AuditService } from '../audit/service.ts';
import type { Access } from '../customers/access.ts';
import { errors } from '../errors.ts';
import type { ConnectedClient } from './grants-store.ts';
import type { OAuthService } from './service.ts';

const Id = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' });

const ClientSchema = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'What the client calls itself.' }),
  scopes: Type.Array(Type.String()),
  connected_at: Type.String({ format: 'date-time' }),
  last_seen_at: Type.String({ format: 'date-time', description: 'When it last got a token.' }),
});

const cursor = cursorCodec(Type.Object({ id: Id }));

function toApi(client: ConnectedClient) {
  return {
    id: client.id,
    name: client.name,
    scopes: client.scopes,
    connected_at: client.connectedAt.toISOString(),
    last_seen_at: client.lastSeenAt.toISOString(),
  };
}

/** The clients that a customer connected by OAuth, and the way to disconnect them. */
export function registerGrantRoutes(
  app: App,
  deps: { oauth: OAuthService; access: Access; audit: AuditService },
): void {
  const { oauth, access, audit } = deps;
  const tags = ['AI clients'];
  app.get(
    '/api/clients',
    {
      onRequest: access.customer('read'),
      schema: {
        tags,
        summary: 'The AI clients that are connected by OAuth, newest first',
        querystring: listQuery(),
        response: { 200: listSchema(ClientSchema) },
      },
    },
    async (request) => {
      const { limit } = request.query;
      const rows = await oauth.listClients({
        customerId: access.sessionOf(request).customerId,
        before: cursor.decode(request.query.cursor)?.id,
        limit: limit + 1,
      });
      const page = toPage(rows, { limit, cursorOf: (last) => cursor.encode({ id: last.id }) });
      return { ...page, data: page.data.map(toApi) };
    },
  );
  app.delete(
    '/api/clients/:id',
    {
      onRequest: access.customer('write'),
      schema: {
        tags,
        summary: 'Disconnect an AI client: all its tokens stop working',
        params: Type.Object({ id: Type.String() }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const session = access.sessionOf(request);
      const { id } = request.params;
      if (!(await oauth.disconnectClient({ customerId: session.customerId, id })))
        throw errors.not_found({ detail: 'There is no such client.' });
      void audit.record([
        {
          customerId: session.customerId,
          actor: actorOf(session),
          action: 'oauth.disconnected',
          target: id,
          outcome: 'success',
          ip: request.ip,
          requestId: request.id,
        },
      ]);
      return reply.code(204).send(null);
    },
  );
}
