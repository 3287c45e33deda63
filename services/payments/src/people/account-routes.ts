import { listQuery, noteAudit, objectListPage, objectListSchema } from '@libs/http';
import type { Login, Session } from '@libs/login';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { closed, ID_LENGTH_MAX, idCursor, idParams, nullable, Timestamp } from '../api-schema.ts';
import { errors } from '../errors.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Invitations } from './invitations.ts';
import type { User } from './person.ts';
import { LinkToken, PersonName, personOf, RoleSchema, SessionSchema, sessionToApi } from './schemas.ts';
import type { PeopleService, SessionView } from './service.ts';

export interface AccountRouteDependencies {
  people: PeopleService;
  sessions: Login<User>['sessions'];
  invitations: Pick<Invitations, 'read'>;
}

const tags = ['Session'];
const cursor = idCursor('ses');

const ListedSession = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('session_info'),
    current: Type.Boolean({ description: 'Whether it is the one that asks.' }),
    ip: nullable(Type.String({ description: 'Where it was started from.' })),
    user_agent: nullable(Type.String()),
    created_at: Timestamp,
    expires_at: Timestamp,
  },
  { title: 'SessionInfo' },
);

function listedToApi(session: Session, currentId: string) {
  return {
    id: session.id,
    object: 'session_info' as const,
    current: session.id === currentId,
    ip: session.ip,
    user_agent: session.userAgent,
    created_at: session.createdAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}

/** What a person does with their account: sessions, organisations, invitations. */
export function registerAccountRoutes(routes: PaymentsRoutes, deps: AccountRouteDependencies): void {
  registerSessionList(routes, deps);
  registerOrganisations(routes, deps);
  registerInvitationLinks(routes, deps);
  registerOperatorFlag(routes, deps);
  registerWayBackIn(routes, deps);
}

function registerSessionList(routes: PaymentsRoutes, { sessions }: AccountRouteDependencies): void {
  routes.get(
    '/v1/session/sessions',
    {
      access: 'person',
      rate: 'person',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'session.list_sessions',
        tags,
        summary: 'List the sessions of the person, newest first',
        querystring: listQuery(),
        response: { 200: objectListSchema(ListedSession) },
      },
    },
    (request) => {
      const { userId: personId, sessionId } = personOf(request);
      return objectListPage(request.query, {
        cursor,
        read: ({ from, limit }) => sessions.list({ personId, before: from?.[0], limit }),
        positionOf: ({ id }) => [id],
        show: (session) => listedToApi(session, sessionId),
      });
    },
  );

  routes.delete(
    '/v1/session/sessions/:id',
    {
      access: 'person',
      rate: 'person',
      audit: { action: 'session.ended', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'session.end_session',
        tags,
        summary: 'End a session of the person',
        params: idParams('ses_01kaf3v6w8q2m5x9t7c4b1n0ze'),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { userId: personId } = personOf(request);
      if (!(await sessions.endById({ personId, id: request.params.id })))
        throw errors.not_found({ detail: 'There is no such session.' });
      return reply.code(204).send(null);
    },
  );

  routes.delete(
    '/v1/session/sessions',
    {
      access: 'person',
      rate: 'person',
      audit: { action: 'session.others_ended' },
      idempotency: 'natural',
      schema: {
        operationId: 'session.end_other_sessions',
        tags,
        summary: 'End all sessions of the person but the one that asks',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { userId: personId, sessionId } = personOf(request);
      await sessions.endOthers({ personId, sessionId });
      return reply.code(204).send(null);
    },
  );
}

function registerOrganisations(routes: PaymentsRoutes, { people }: AccountRouteDependencies): void {
  routes.post(
    '/v1/session/organisation',
    {
      access: 'person',
      rate: 'person',
      audit: 'none',
      idempotency: 'natural',
      codes: ['not_found'],
      schema: {
        operationId: 'session.switch_organisation',
        tags,
        summary: 'Look at another organisation',
        body: Type.Object({ organisation_id: Type.String({ maxLength: ID_LENGTH_MAX }) }, closed),
        response: { 200: SessionSchema },
      },
    },
    async (request) => sessionToApi(await people.switchTo(personOf(request), request.body.organisation_id)),
  );

  routes.post(
    '/v1/session/organisations',
    {
      access: 'person',
      rate: 'person',
      audit: { action: 'organisation.created' },
      idempotency: 'keyed',
      codes: ['limit_reached'],
      schema: {
        operationId: 'session.create_organisation',
        tags,
        summary: 'Make another organisation, and look at it',
        body: Type.Object({ name: PersonName }, closed),
        response: { 201: SessionSchema },
      },
    },
    async (request, tx) => {
      const view = await people.addOrganisation(tx, personOf(request), request.body.name);
      noteJoined(request, view);
      return { status: 201, body: sessionToApi(view) };
    },
  );
}

function registerInvitationLinks(
  routes: PaymentsRoutes,
  { people, invitations }: AccountRouteDependencies,
): void {
  routes.get(
    '/v1/session/invitations/:token',
    {
      access: 'visitor',
      rate: 'address',
      audit: 'none',
      idempotency: 'safe',
      codes: ['link_not_valid'],
      schema: {
        operationId: 'session.read_invitation',
        tags,
        summary: 'What the link of an invitation leads to',
        params: Type.Object({ token: LinkToken }),
        response: {
          200: Type.Object({
            organisation: Type.Object({ name: Type.String() }),
            email: Type.String(),
            role: RoleSchema,
          }),
        },
      },
    },
    async ({ params }) => {
      const { organisationName, email, role } = await invitations.read(params.token);
      return { organisation: { name: organisationName }, email, role };
    },
  );

  routes.post(
    '/v1/session/invitations/accept',
    {
      access: 'person',
      rate: 'person',
      audit: { action: 'invitation.accepted' },
      idempotency: 'repeats',
      codes: ['link_not_valid', 'invitation_for_another', 'limit_reached'],
      schema: {
        operationId: 'session.accept_invitation',
        tags,
        summary: 'Join the organisation that the link invites to, and look at it',
        body: Type.Object({ token: LinkToken }, closed),
        response: { 200: SessionSchema },
      },
    },
    async (request) => {
      const view = await people.acceptInvitation(personOf(request), request.body.token);
      noteJoined(request, view);
      return sessionToApi(view);
    },
  );
}

/** Who joins an organisation stands in its log, not in that of the one whose pages the person came from. */
function noteJoined(request: FastifyRequest, { organisation }: SessionView): void {
  if (organisation !== null)
    noteAudit(request, { target: organisation.id, organisations: [organisation.id] });
}

/** Of a person, by the address. */
const EmailParams = Type.Object({
  email: Type.String({ maxLength: ID_LENGTH_MAX, examples: ['ada@example.com'] }),
});

/** With the admin token alone: an operator's session that was stolen would undo by it what guards its own account. */
function registerWayBackIn(routes: PaymentsRoutes, { people }: AccountRouteDependencies): void {
  routes.delete(
    '/v1/admin/users/:email/passkeys',
    {
      access: 'admin_token',
      rate: 'none',
      audit: { action: 'user.passkeys_removed' },
      idempotency: 'natural',
      codes: ['not_found'],
      schema: {
        operationId: 'admin.remove_passkeys',
        tags: ['Admin'],
        summary: 'Remove all passkeys of a person, and let a password alone in again',
        description:
          'For somebody who demands a passkey and has lost them all, or whose account somebody else was in. With the admin token alone.',
        params: EmailParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { userId, organisationIds } = await people.removeAllPasskeys(request.params.email);
      noteAudit(request, { target: userId, organisations: organisationIds });
      return reply.code(204).send(null);
    },
  );
}

function registerOperatorFlag(routes: PaymentsRoutes, { people }: AccountRouteDependencies): void {
  routes.post(
    '/v1/admin/users/:email/operator',
    {
      access: 'admin_token',
      rate: 'none',
      audit: { action: 'user.operator_changed' },
      idempotency: 'natural',
      codes: ['state_conflict'],
      schema: {
        operationId: 'admin.set_operator',
        tags: ['Admin'],
        summary: "Let a person use the operator's endpoints, or no longer",
        description: 'With the admin token alone; the person must have verified the address.',
        params: EmailParams,
        body: Type.Object(
          { operator: Type.Boolean() },
          { ...closed, title: 'SetOperator', examples: [{ operator: true }] },
        ),
        response: {
          200: Type.Object(
            { id: Type.String(), email: Type.String(), operator: Type.Boolean() },
            {
              title: 'Operator',
              examples: [{ id: 'usr_01kaf3v6w8q2m5x9t7c4b1n0ze', email: 'ada@example.com', operator: true }],
            },
          ),
        },
      },
    },
    async (request) => {
      const { id, email, operator } = await people.setOperator(request.params.email, request.body.operator);
      noteAudit(request, { target: id });
      return { id, email, operator };
    },
  );
}
