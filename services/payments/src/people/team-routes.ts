import type { Queryable } from '@libs/db';
import { listQuery, noteAudit, objectListPage, objectListSchema, type RateLimit } from '@libs/http';
import { emailKey } from '@libs/login';
import Type from 'typebox';
import { closed, idCursor, idParams, Timestamp } from '../api-schema.ts';
import { errors } from '../errors.ts';
import type { Gates } from '../keys/access.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Invitations } from './invitations.ts';
import type { Members } from './members.ts';
import { type Invitation, type Member, reaches } from './person.ts';
import { Email, personOf, RoleSchema } from './schemas.ts';

export interface TeamRouteDependencies {
  members: Members;
  invitations: Invitations;
  gates: Pick<Gates, 'holdCaller'>;
  /** How many invitations leave: of one organisation, and to one address. */
  limits: { organisation: Pick<RateLimit, 'take'>; address: Pick<RateLimit, 'take'> };
}

const tags = ['Team'];
const memberCursor = idCursor('usr');
const invitationCursor = idCursor('inv');

const MemberParams = idParams('usr_01kaf3v6w8q2m5x9t7c4b1n0ze');
const InvitationParams = idParams('inv_01kaf3v6w8q2m5x9t7c4b1n0ze');

const MemberSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('member'),
    email: Type.String(),
    name: Type.String(),
    role: RoleSchema,
    created_at: Timestamp,
  },
  { title: 'Member' },
);

const InvitationSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('invitation'),
    email: Type.String(),
    role: RoleSchema,
    invited_by: Type.String(),
    created_at: Timestamp,
    expires_at: Timestamp,
  },
  { title: 'Invitation' },
);

function memberToApi({ id, email, name, role, createdAt }: Member) {
  return { id, object: 'member' as const, email, name, role, created_at: createdAt.toISOString() };
}

function invitationToApi(invitation: Invitation) {
  return {
    id: invitation.id,
    object: 'invitation' as const,
    email: invitation.email,
    role: invitation.role,
    invited_by: invitation.invitedBy,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  };
}

/** Who belongs to an organisation, and who may. */
export function registerTeamRoutes(routes: PaymentsRoutes, deps: TeamRouteDependencies): void {
  registerMembers(routes, deps);
  registerInvitations(routes, deps);
}

function registerMembers(routes: PaymentsRoutes, { members, gates }: TeamRouteDependencies): void {
  routes.get(
    '/v1/members',
    {
      access: 'viewer',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'members.list',
        tags,
        summary: 'List the members, newest first',
        querystring: listQuery(),
        response: { 200: objectListSchema(MemberSchema) },
      },
    },
    ({ query, caller: { tenant } }) =>
      objectListPage(query, {
        cursor: memberCursor,
        read: ({ from, limit }) =>
          members.list({ organisationId: tenant.organisationId, before: from?.[0] ?? null, limit }),
        positionOf: ({ id }) => [id],
        show: memberToApi,
      }),
  );

  routes.patch(
    '/v1/members/:id',
    {
      access: 'owner',
      rate: 'key',
      audit: { action: 'member.role_changed', targetParam: 'id' },
      idempotency: 'natural',
      codes: ['last_owner'],
      schema: {
        operationId: 'members.update',
        tags,
        summary: 'Change the role of a member',
        params: MemberParams,
        body: Type.Object({ role: RoleSchema }, closed),
        response: { 200: MemberSchema },
      },
    },
    async (request) => {
      const { params, body, caller } = request;
      const key = { organisationId: caller.tenant.organisationId, userId: params.id };
      const hold = (tx: Queryable) => gates.holdCaller(request, tx);
      return memberToApi(await members.changeRole(key, { role: body.role, hold }));
    },
  );

  routes.delete(
    '/v1/members/:id',
    {
      access: 'viewer',
      rate: 'key',
      audit: { action: 'member.removed', targetParam: 'id' },
      idempotency: 'natural',
      codes: ['last_owner'],
      schema: {
        operationId: 'members.remove',
        tags,
        summary: 'Remove a member, or leave',
        description: 'Owners remove anybody; everybody may leave. An organisation keeps at least one owner.',
        params: MemberParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { userId, membership } = personOf(request);
      const mayRemove = request.params.id === userId || (membership && reaches(membership.role, 'owner'));
      if (!mayRemove) throw errors.insufficient_role({ extra: { required_role: 'owner' } });
      const key = { organisationId: request.caller.tenant.organisationId, userId: request.params.id };
      const need = key.userId === userId ? 'viewer' : 'owner';
      await members.remove(key, { hold: (tx) => gates.holdCaller(request, tx, need) });
      return reply.code(204).send(null);
    },
  );
}

function registerInvitations(
  routes: PaymentsRoutes,
  { invitations, gates, limits }: TeamRouteDependencies,
): void {
  /** Invitations are mails to people who never asked for one: a known sender, and not many. */
  async function requireRoom(organisationId: string, email: string): Promise<void> {
    for (const decision of [
      await limits.organisation.take(organisationId),
      await limits.address.take(emailKey(email)),
    ]) {
      const { allowed, retryAfterSeconds } = decision;
      if (!allowed) throw errors.rate_limited({ retryAfterSeconds });
    }
  }

  routes.post(
    '/v1/invitations',
    {
      access: 'owner',
      rate: 'key',
      audit: { action: 'invitation.created' },
      idempotency: 'keyed',
      codes: ['email_not_verified', 'already_member', 'limit_reached'],
      // Before the transaction: the limit may ask the database on a connection of its own.
      before: async (request) => {
        if (!personOf(request).emailVerified) throw errors.email_not_verified();
        await requireRoom(request.caller.tenant.organisationId, request.body.email);
      },
      schema: {
        operationId: 'invitations.create',
        tags,
        summary: 'Invite somebody by mail',
        description: 'The link works once, for seven days; another one for the same address replaces it.',
        body: Type.Object({ email: Email, role: RoleSchema }, closed),
        response: { 201: InvitationSchema },
      },
    },
    async (request, tx) => {
      const { organisationId } = request.caller.tenant;
      const invitedBy = personOf(request).userId;
      await gates.holdCaller(request, tx);
      const invitation = await invitations.invite(tx, { ...request.body, organisationId, invitedBy });
      noteAudit(request, { target: invitation.id });
      return { status: 201, body: invitationToApi(invitation) };
    },
  );

  routes.get(
    '/v1/invitations',
    {
      access: 'viewer',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'invitations.list',
        tags,
        summary: 'List the open invitations, newest first',
        querystring: listQuery(),
        response: { 200: objectListSchema(InvitationSchema) },
      },
    },
    ({ query, caller: { tenant } }) =>
      objectListPage(query, {
        cursor: invitationCursor,
        read: ({ from, limit }) =>
          invitations.list({ organisationId: tenant.organisationId, before: from?.[0] ?? null, limit }),
        positionOf: ({ id }) => [id],
        show: invitationToApi,
      }),
  );

  routes.delete(
    '/v1/invitations/:id',
    {
      access: 'owner',
      rate: 'key',
      audit: { action: 'invitation.revoked', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'invitations.revoke',
        tags,
        summary: 'Take an invitation back',
        params: InvitationParams,
        response: { 204: Type.Null() },
      },
    },
    async ({ params, caller }, reply) => {
      await invitations.revoke({ organisationId: caller.tenant.organisationId, id: params.id });
      return reply.code(204).send(null);
    },
  );
}
