import { cursorCodec, listPage, listQuery, listSchema } from '@libs/http';
import Type from 'typebox';
import type { Access } from '../customers/access.ts';
import { errors } from '../errors.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { ClientPlace, ConnectedClient } from './grants-store.ts';
import type { OAuthService } from './service.ts';

const Id = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' });

const ClientSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ description: 'What the client calls itself.' }),
    scopes: Type.Array(Type.String()),
    connected_at: Type.String({ format: 'date-time' }),
    last_seen_at: Type.String({ format: 'date-time', description: 'When it last got a token.' }),
  },
  {
    title: 'Client',
    examples: [
      {
        id: 'rV3cZ1pT8mQ5xK0hN7bW2yL9sD4fG6jA1eU3iO5kP8q',
        name: 'My assistant',
        scopes: ['tools:read', 'tools:write', 'offline_access'],
        connected_at: '2026-11-16T15:04:05.000Z',
        last_seen_at: '2026-11-16T16:04:05.000Z',
      },
    ],
  },
);

/** The end of the year 9999: any time before it is one to the database, too. */
const TIME_MS_MAX = 253_402_300_799_999;
const cursor = cursorCodec(
  Type.Object({ connected_ms: Type.Integer({ minimum: 0, maximum: TIME_MS_MAX }), id: Id }),
);

function placeOf({ connected_ms: connectedMs, id }: { connected_ms: number; id: string }): ClientPlace {
  return { connectedAt: new Date(connectedMs), id };
}

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
  routes: ToolhubRoutes,
  deps: { oauth: OAuthService; access: Pick<Access, 'sessionOf'> },
): void {
  const { oauth, access } = deps;
  const tags = ['AI clients'];
  routes.get(
    '/api/clients',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'clients.list',
        tags,
        summary: 'The AI clients that are connected by OAuth',
        description: 'Newest first, with what each may do.',
        querystring: listQuery(),
        response: { 200: listSchema(ClientSchema) },
      },
    },
    (request) => {
      const { customerId } = access.sessionOf(request);
      return listPage(request.query, {
        cursor,
        read: ({ from, limit }) => oauth.listClients({ customerId, before: from && placeOf(from), limit }),
        positionOf: ({ id, connectedAt }) => ({ id, connected_ms: connectedAt.getTime() }),
        show: toApi,
      });
    },
  );
  routes.delete(
    '/api/clients/:id',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'oauth.disconnected', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'clients.disconnect',
        tags,
        summary: 'Disconnect an AI client',
        description: 'All its tokens stop working.',
        params: Type.Object({
          id: Type.String({ examples: ['rV3cZ1pT8mQ5xK0hN7bW2yL9sD4fG6jA1eU3iO5kP8q'] }),
        }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const session = access.sessionOf(request);
      const { id } = request.params;
      if (!(await oauth.disconnectClient({ customerId: session.customerId, id })))
        throw errors.not_found({ detail: 'There is no such client.' });
      return reply.code(204).send(null);
    },
  );
}
