import { listQuery, noteAudit, objectListPage, objectListSchema } from '@libs/http';
import Type from 'typebox';
import { closed, idCursor, idParams, nullable, oneOfStrings, Timestamp } from '../api-schema.ts';
import { errors } from '../errors.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { DescribedOrganisation } from './organisation.ts';
import type { OrganisationService } from './service.ts';

const NAME_LENGTH_MAX = 200;
const REASON_LENGTH_MAX = 1_000;
const LiveStatus = oneOfStrings(['none', 'requested', 'approved', 'refused']);
const Reason = nullable(Type.String({ maxLength: REASON_LENGTH_MAX }));
const cursor = idCursor('org');

const OrganisationSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('organisation'),
    name: Type.String(),
    live_access: LiveStatus,
    created_at: Timestamp,
  },
  { title: 'Organisation' },
);

const LiveAccessSchema = Type.Object(
  {
    object: Type.Literal('live_access'),
    organisation_id: Type.String(),
    status: LiveStatus,
    request: nullable(Type.String({ description: 'What the organisation wrote with its request.' })),
    reason: nullable(Type.String({ description: 'What the operator answered.' })),
    updated_at: nullable(Timestamp),
  },
  {
    title: 'LiveAccess',
    examples: [
      {
        object: 'live_access',
        organisation_id: 'org_01kaf3v6w8q2m5x9t7c4b1n0ze',
        status: 'approved',
        request: 'Payouts to our sellers.',
        reason: null,
        updated_at: '2026-11-16T15:04:05.000Z',
      },
    ],
  },
);

const ListedOrganisation = Type.Object(
  {
    ...OrganisationSchema.properties,
    live_access_request: nullable(Type.String()),
    live_access_reason: nullable(Type.String()),
    live_access_updated_at: nullable(Timestamp),
  },
  {
    title: 'ListedOrganisation',
    examples: [
      {
        id: 'org_01kaf3v6w8q2m5x9t7c4b1n0ze',
        object: 'organisation',
        name: 'Acme',
        live_access: 'requested',
        created_at: '2026-11-16T15:04:05.000Z',
        live_access_request: 'Payouts to our sellers.',
        live_access_reason: null,
        live_access_updated_at: '2026-11-16T15:04:05.000Z',
      },
    ],
  },
);

function organisationToApi({ id, name, liveAccess, createdAt }: DescribedOrganisation) {
  return {
    id,
    object: 'organisation' as const,
    name,
    live_access: liveAccess.status,
    created_at: createdAt.toISOString(),
  };
}

function liveAccessToApi({ id, liveAccess }: DescribedOrganisation) {
  return {
    object: 'live_access' as const,
    organisation_id: id,
    status: liveAccess.status,
    request: liveAccess.request,
    reason: liveAccess.reason,
    updated_at: liveAccess.updatedAt?.toISOString() ?? null,
  };
}

function listedToApi(organisation: DescribedOrganisation) {
  const { request, reason, updated_at } = liveAccessToApi(organisation);
  return {
    ...organisationToApi(organisation),
    live_access_request: request,
    live_access_reason: reason,
    live_access_updated_at: updated_at,
  };
}

export interface OrganisationRouteDependencies {
  organisations: OrganisationService;
}

export function registerOrganisationRoutes(
  routes: PaymentsRoutes,
  deps: OrganisationRouteDependencies,
): void {
  registerOwn(routes, deps);
  registerLiveAccess(routes, deps);
  registerOperator(routes, deps);
}

function registerOwn(routes: PaymentsRoutes, { organisations }: OrganisationRouteDependencies): void {
  const tags = ['Team'];
  routes.get(
    '/v1/organisation',
    {
      access: 'viewer',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'organisation.get',
        tags,
        summary: 'The organisation that the session looks at',
        response: { 200: OrganisationSchema },
      },
    },
    async ({ caller }) => organisationToApi(await organisations.get(caller.tenant.organisationId)),
  );

  routes.patch(
    '/v1/organisation',
    {
      access: 'owner',
      rate: 'key',
      audit: { action: 'organisation.renamed' },
      idempotency: 'natural',
      schema: {
        operationId: 'organisation.update',
        tags,
        summary: 'Change its name',
        body: Type.Object(
          { name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, pattern: '\\S' }) },
          closed,
        ),
        response: { 200: OrganisationSchema },
      },
    },
    async ({ caller, body }) =>
      organisationToApi(await organisations.rename(caller.tenant.organisationId, body.name)),
  );
}

function registerLiveAccess(routes: PaymentsRoutes, { organisations }: OrganisationRouteDependencies): void {
  const tags = ['Team'];
  routes.get(
    '/v1/live_access',
    {
      access: 'viewer',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'live_access.get',
        tags,
        summary: 'Whether live keys can be made',
        response: { 200: LiveAccessSchema },
      },
    },
    async ({ caller }) => liveAccessToApi(await organisations.get(caller.tenant.organisationId)),
  );

  routes.post(
    '/v1/live_access',
    {
      access: 'owner',
      rate: 'key',
      audit: { action: 'live_access.requested' },
      idempotency: 'keyed',
      codes: ['email_not_verified', 'state_conflict'],
      schema: {
        operationId: 'live_access.request',
        tags,
        summary: 'Ask the operator for live keys',
        body: Type.Object({ reason: Type.Optional(Reason) }, closed),
        response: { 202: LiveAccessSchema },
      },
    },
    async ({ caller, person, body }, tx) => {
      if (person?.emailVerified !== true) throw errors.email_not_verified();
      const { organisationId } = caller.tenant;
      const organisation = await organisations.requestLiveAccess(tx, organisationId, body.reason ?? null);
      return { status: 202, body: liveAccessToApi(organisation) };
    },
  );
}

function registerOperator(routes: PaymentsRoutes, { organisations }: OrganisationRouteDependencies): void {
  const tags = ['Admin'];
  routes.get(
    '/v1/admin/organisations',
    {
      access: 'operator',
      rate: 'operator',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_organisations',
        tags,
        summary: 'List organisations',
        description: 'Newest first, with where each stands with live keys.',
        querystring: listQuery({ live_access: Type.Optional(LiveStatus) }),
        response: { 200: objectListSchema(ListedOrganisation) },
      },
    },
    ({ query }) =>
      objectListPage(query, {
        cursor,
        read: ({ from, limit }) =>
          organisations.list({
            ...{ liveAccess: query.live_access ?? null, before: from?.[0] ?? null, limit },
          }),
        positionOf: ({ id }) => [id],
        show: listedToApi,
      }),
  );

  routes.post(
    '/v1/admin/organisations/:id/live_access',
    {
      access: 'operator',
      rate: 'operator',
      audit: { action: 'live_access.decided', targetParam: 'id' },
      idempotency: 'keyed',
      schema: {
        operationId: 'admin.decide_live_access',
        tags,
        summary: 'Approve an organisation for live keys, or refuse it',
        description:
          'Once approved, its people can make live keys. A refusal ends the live keys that it has, within a second. The reason is shown to them.',
        params: idParams('org_01kaf3v6w8q2m5x9t7c4b1n0ze'),
        body: Type.Object(
          { approved: Type.Boolean(), reason: Type.Optional(Reason) },
          { ...closed, title: 'DecideLiveAccess', examples: [{ approved: true }] },
        ),
        response: { 200: LiveAccessSchema },
      },
    },
    async (request, tx) => {
      const { params, body } = request;
      const { approved, reason = null } = body;
      const organisation = await organisations.decideLiveAccess(tx, params.id, { approved, reason });
      noteAudit(request, { organisations: [params.id] });
      return { status: 200, body: liveAccessToApi(organisation) };
    },
  );
}
