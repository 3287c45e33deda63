import { listQuery, noteAudit, objectListPage, objectListSchema } from '@libs/http';
import Type from 'typebox';
import { closed, idCursor, ModeSchema, Timestamp } from '../api-schema.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import {
  KeyName,
  KeyParams,
  KeySchema,
  KeyWithToken,
  keyToApi,
  NewKeyFields,
  nameExpired,
  newKeyFrom,
  newKeyToApi,
  OrganisationParams,
  RollBody,
} from './schemas.ts';
import type { KeyService, NewOrganisation } from './service.ts';

const cursor = idCursor('key');

const createdOrganisation = Type.Object(
  {
    organisation: Type.Object({ id: Type.String(), name: Type.String(), created_at: Timestamp }),
    keys: Type.Object({ test: Type.String(), live: Type.String() }, { description: 'Shown this once.' }),
    key_ids: Type.Object({ test: Type.String(), live: Type.String() }),
  },
  {
    title: 'NewOrganisation',
    examples: [
      {
        organisation: {
          id: 'org_01kaf3v6w8q2m5x9t7c4b1n0ze',
          name: 'Acme',
          created_at: '2026-11-16T15:04:05.000Z',
        },
        keys: { test: 'sk_test_…', live: 'sk_live_…' },
        key_ids: { test: 'key_01kaf3v6w8q2m5x9t7c4b1n0ze', live: 'key_01kaf3v6wcn1r0d8s4h2j7x5yb' },
      },
    ],
  },
);

function organisationToApi({ organisation, test, live }: NewOrganisation) {
  return {
    organisation: {
      id: organisation.id,
      name: organisation.name,
      created_at: organisation.createdAt.toISOString(),
    },
    keys: { test: test.token, live: live.token },
    key_ids: { test: test.key.id, live: live.key.id },
  };
}

export interface AdminRouteOptions {
  keys: KeyService;
  now: () => Date;
}

/** The operator's endpoints. */
export function registerAdminRoutes(routes: PaymentsRoutes, options: AdminRouteOptions): void {
  registerOrganisationRoutes(routes, options);
  registerKeyRoutes(routes, options);
}

const shared = { tags: ['Admin'] };

function registerOrganisationRoutes(routes: PaymentsRoutes, { keys }: AdminRouteOptions): void {
  routes.post(
    '/v1/admin/organisations',
    {
      access: 'operator',
      rate: 'operator',
      audit: { action: 'organisation.created' },
      idempotency: 'keyed',
      schema: {
        operationId: 'admin.create_organisation',
        ...shared,
        summary: 'Create an organisation with a test and a live key',
        description: 'Both keys are shown this once.',
        body: Type.Object({ name: KeyName }, { ...closed, title: 'CreateOrganisation' }),
        response: { 201: createdOrganisation },
      },
    },
    async (request, tx) => ({
      status: 201,
      body: organisationToApi(await keys.createOrganisation(tx, request.body.name)),
    }),
  );

  routes.get(
    '/v1/admin/organisations/:id/keys',
    {
      access: 'operator',
      rate: 'operator',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_keys',
        ...shared,
        summary: 'List the keys of an organisation',
        description: 'Of both modes, newest first; revoked and expired ones too, never the keys themselves.',
        params: OrganisationParams,
        querystring: listQuery(),
        response: { 200: objectListSchema(KeySchema) },
      },
    },
    ({ params, query }) =>
      objectListPage(query, {
        cursor,
        read: ({ from, limit }) => keys.listKeys(params.id, { before: from?.[0] ?? null, limit }),
        positionOf: ({ id }) => [id],
        show: keyToApi,
      }),
  );
}

function registerKeyRoutes(routes: PaymentsRoutes, { keys, now }: AdminRouteOptions): void {
  routes.post(
    '/v1/admin/organisations/:id/keys',
    {
      access: 'operator',
      rate: 'operator',
      audit: { action: 'key.created' },
      idempotency: 'keyed',
      errorHandler: nameExpired(now),
      schema: {
        operationId: 'admin.create_key',
        ...shared,
        summary: 'Create a key',
        description: 'For one mode, with all scopes or some. The key is shown this once.',
        params: OrganisationParams,
        body: Type.Object(
          { mode: ModeSchema, ...NewKeyFields },
          { ...closed, title: 'CreateApiKey', examples: [{ mode: 'test', name: 'shop' }] },
        ),
        response: { 201: KeyWithToken },
      },
    },
    async (request, tx) => {
      const added = await keys.createKey(tx, {
        organisationId: request.params.id,
        mode: request.body.mode,
        ...newKeyFrom(request.body, now()),
      });
      noteAudit(request, { target: added.key.id, organisations: [request.params.id] });
      return { status: 201, body: newKeyToApi(added) };
    },
  );

  routes.post(
    '/v1/admin/keys/:id/roll',
    {
      access: 'operator',
      rate: 'operator',
      audit: { action: 'key.rolled', targetParam: 'id' },
      idempotency: 'keyed',
      codes: ['state_conflict'],
      schema: {
        operationId: 'admin.roll_key',
        ...shared,
        summary: 'Replace a key by a new one',
        description:
          'The old one works on for the overlap, and cannot be rolled again. The new one is shown this once.',
        params: KeyParams,
        body: RollBody,
        response: { 201: KeyWithToken },
      },
    },
    async (request, tx) => {
      const added = await keys.rollKey(tx, request.params.id, {
        overlapSeconds: request.body.overlap_seconds,
      });
      noteAudit(request, { organisations: [added.key.organisationId] });
      return { status: 201, body: newKeyToApi(added) };
    },
  );

  routes.delete(
    '/v1/admin/keys/:id',
    {
      access: 'operator',
      rate: 'operator',
      audit: { action: 'key.revoked', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'admin.revoke_key',
        ...shared,
        summary: 'Revoke a key',
        description: 'It stops working in every process within a second.',
        params: KeyParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { organisationId } = await keys.revokeKey(request.params.id);
      noteAudit(request, { organisations: [organisationId] });
      return reply.code(204).send(null);
    },
  );
}
