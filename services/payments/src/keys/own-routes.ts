import { listQuery, noteAudit, objectListPage, objectListSchema } from '@libs/http';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { closed, idCursor } from '../api-schema.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Gates } from './access.ts';
import {
  KeyParams,
  KeySchema,
  KeyWithToken,
  keyToApi,
  NewKeyFields,
  nameExpired,
  newKeyFrom,
  newKeyToApi,
  RollBody,
} from './schemas.ts';
import type { KeyOwner, KeyService } from './service.ts';

export interface OwnKeyRouteDependencies {
  keys: KeyService;
  gates: Pick<Gates, 'holdCaller'>;
  now: () => Date;
}

const tags = ['Keys'];
const cursor = idCursor('key');

const ownerOf = ({ caller }: FastifyRequest): KeyOwner => ({
  organisationId: caller.tenant.organisationId,
  mode: caller.tenant.mode,
});

/** Keys of the organisation that a session looks at, in the mode of its header. A key makes no keys. */
export function registerOwnKeyRoutes(
  routes: PaymentsRoutes,
  { keys, gates, now }: OwnKeyRouteDependencies,
): void {
  routes.get(
    '/v1/keys',
    {
      access: 'developer',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'keys.list',
        tags,
        summary: 'List your keys',
        description:
          'Those of the mode that `Payments-Mode` says, newest first; revoked and expired ones too.',
        querystring: listQuery(),
        response: { 200: objectListSchema(KeySchema) },
      },
    },
    (request) =>
      objectListPage(request.query, {
        cursor,
        read: ({ from, limit }) => keys.listKeysOf(ownerOf(request), { before: from?.[0] ?? null, limit }),
        positionOf: ({ id }) => [id],
        show: keyToApi,
      }),
  );

  routes.post(
    '/v1/keys',
    {
      access: 'developer',
      rate: 'key',
      audit: { action: 'key.created' },
      idempotency: 'keyed',
      codes: ['live_access_required', 'limit_reached'],
      errorHandler: nameExpired(now),
      schema: {
        operationId: 'keys.create',
        tags,
        summary: 'Make a key',
        description:
          'Of the mode that `Payments-Mode` says, with all scopes or some. The key is shown this once.',
        body: Type.Object(NewKeyFields, {
          ...closed,
          title: 'CreateOwnApiKey',
          examples: [{ name: 'shop' }],
        }),
        response: { 201: KeyWithToken },
      },
    },
    async (request, tx) => {
      await gates.holdCaller(request, tx);
      const added = await keys.createOwnKey(tx, {
        ...ownerOf(request),
        ...newKeyFrom(request.body, now()),
      });
      noteAudit(request, { target: added.key.id });
      return { status: 201, body: newKeyToApi(added) };
    },
  );

  routes.post(
    '/v1/keys/:id/roll',
    {
      access: 'developer',
      rate: 'key',
      audit: { action: 'key.rolled', targetParam: 'id' },
      idempotency: 'keyed',
      codes: ['live_access_required', 'state_conflict'],
      schema: {
        operationId: 'keys.roll',
        tags,
        summary: 'Roll a key',
        description:
          'A new one takes over; the old one works on for the overlap, and cannot be rolled again. The new one is shown this once.',
        params: KeyParams,
        body: RollBody,
        response: { 201: KeyWithToken },
      },
    },
    async (request, tx) => {
      await gates.holdCaller(request, tx);
      const added = await keys.rollKey(tx, request.params.id, {
        overlapSeconds: request.body.overlap_seconds,
        owner: ownerOf(request),
      });
      return { status: 201, body: newKeyToApi(added) };
    },
  );

  routes.delete(
    '/v1/keys/:id',
    {
      access: 'developer',
      rate: 'key',
      audit: { action: 'key.revoked', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'keys.revoke',
        tags,
        summary: 'Revoke your key',
        description: 'It stops working in every process within a second.',
        params: KeyParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await keys.revokeKey(request.params.id, ownerOf(request));
      return reply.code(204).send(null);
    },
  );
}
