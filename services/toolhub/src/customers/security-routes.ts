import { cursorCodec, listPage, listQuery, listSchema, noteAudit } from '@libs/http';
import { EMAIL_CHARACTERS_MAX, type Login, type Session as LoginSession } from '@libs/login';
import Type from 'typebox';
import { errors } from '../errors.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { Access } from './access.ts';
import type { Customer } from './customer.ts';
import { CustomerAnswer, customerToApi, GivenPassword, NewPassword } from './schemas.ts';

export interface SecurityRoutesDependencies {
  security: Login<Customer>['security'];
  sessions: Pick<Login<Customer>['sessions'], 'list' | 'endById' | 'endOthers'>;
  access: Pick<Access, 'sessionOf'>;
}

const LinkToken = Type.String({ minLength: 1, maxLength: 200, description: 'From the link in the mail.' });
const Accepted = Type.Object(
  {},
  { title: 'Accepted', description: 'Nothing is told here; see the mail.', examples: [{}] },
);
const link = 'kq3f8ZpW0n5sVxT2bYhL6uRcJ9mDgE1a';

const SessionSchema = Type.Object(
  {
    id: Type.String(),
    current: Type.Boolean({ description: 'Whether it is the one that asks.' }),
    ip: Type.Union([Type.String(), Type.Null()], { description: 'Where it was started from.' }),
    user_agent: Type.Union([Type.String(), Type.Null()]),
    created_at: Type.String({ format: 'date-time' }),
    expires_at: Type.String({ format: 'date-time' }),
  },
  {
    title: 'Session',
    examples: [
      {
        id: 'ses_01kaf3v6w8q2m5x9t7c4b1n0ze',
        current: true,
        ip: '203.0.113.7',
        user_agent: 'Mozilla/5.0',
        created_at: '2026-11-16T15:04:05.000Z',
        expires_at: '2026-12-16T15:04:05.000Z',
      },
    ],
  },
);

const cursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^ses_[0-9a-z]{26}$' }) }));
const tags = ['Account'];

/** Proving the address, getting back in, and looking after sessions. */
export function registerSecurityRoutes(routes: ToolhubRoutes, deps: SecurityRoutesDependencies): void {
  registerVerification(routes, deps);
  registerPassword(routes, deps);
  registerSessionList(routes, deps);
}

function registerVerification(routes: ToolhubRoutes, { security, access }: SecurityRoutesDependencies): void {
  routes.post(
    '/api/auth/verify',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'account.verified' },
      idempotency: 'repeats',
      codes: ['link_not_valid'],
      schema: {
        operationId: 'account.verify',
        tags,
        summary: 'Verify the e-mail address',
        description: 'With the token from the mail; it works once, for 24 hours.',
        body: Type.Object(
          { token: LinkToken },
          { additionalProperties: false, title: 'VerifyAddress', examples: [{ token: link }] },
        ),
        response: { 200: CustomerAnswer },
      },
    },
    async (request) => {
      const customer = await security.verify(request.body.token);
      noteAudit(request, { subject: customer.id });
      return customerToApi(customer);
    },
  );

  routes.post(
    '/api/auth/verify/resend',
    {
      access: 'account:write',
      rate: 'dear',
      audit: { action: 'account.verification_sent' },
      idempotency: 'repeats',
      schema: {
        operationId: 'account.resend_verification',
        tags,
        summary: 'Send the verification again',
        description: 'Mails a new link; nothing happens where the address is verified already.',
        response: { 202: Accepted },
      },
    },
    async (request, reply) => {
      await security.resendVerification(access.sessionOf(request).customerId);
      return reply.code(202).send({});
    },
  );
}

function registerPassword(routes: ToolhubRoutes, { security, access }: SecurityRoutesDependencies): void {
  routes.post(
    '/api/auth/forgot',
    {
      access: 'visitor',
      rate: 'address',
      audit: 'none',
      idempotency: 'repeats',
      schema: {
        operationId: 'account.forgot_password',
        tags,
        summary: 'Ask for a link to choose a new password',
        description: 'The answer is the same whether or not there is such an account.',
        body: Type.Object(
          { email: Type.String({ minLength: 1, maxLength: EMAIL_CHARACTERS_MAX }) },
          { additionalProperties: false, title: 'ForgotPassword', examples: [{ email: 'ada@example.com' }] },
        ),
        response: { 202: Accepted },
      },
    },
    async (request, reply) => {
      await security.forgot(request.body.email);
      return reply.code(202).send({});
    },
  );

  routes.post(
    '/api/auth/reset',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'account.password_reset' },
      idempotency: 'repeats',
      codes: ['link_not_valid', 'busy'],
      schema: {
        operationId: 'account.reset_password',
        tags,
        summary: 'Choose a new password with the link from the mail',
        description:
          'The token works once, for an hour. All sessions end. Where nobody had verified the address, it is verified, and personal tokens, connected clients, connections and the webhook go: somebody else may have made them.',
        body: Type.Object(
          { token: LinkToken, password: NewPassword },
          {
            additionalProperties: false,
            title: 'ResetPassword',
            examples: [{ token: link, password: 'another horse battery' }],
          },
        ),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { personId, isReclaimed } = await security.reset(request.body);
      noteAudit(request, { subject: personId, ...(isReclaimed && { action: 'account.reclaimed' }) });
      return reply.code(204).send(null);
    },
  );

  routes.post(
    '/api/auth/password',
    {
      access: 'person',
      rate: 'api',
      audit: { action: 'account.password_changed' },
      idempotency: 'natural',
      codes: ['wrong_password', 'too_many_logins', 'busy'],
      schema: {
        operationId: 'account.change_password',
        tags,
        summary: 'Change the password',
        description: 'All other sessions end.',
        body: Type.Object(
          { current: GivenPassword, new: NewPassword },
          {
            additionalProperties: false,
            title: 'ChangePassword',
            examples: [{ current: 'correct horse battery', new: 'another horse battery' }],
          },
        ),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { customerId: personId, sessionId = null } = access.sessionOf(request);
      const { current, new: next } = request.body;
      await security.changePassword({ personId, sessionId, current, next });
      return reply.code(204).send(null);
    },
  );
}

function registerSessionList(routes: ToolhubRoutes, { sessions, access }: SecurityRoutesDependencies): void {
  routes.get(
    '/api/sessions',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'sessions.list',
        tags,
        summary: 'The sessions of the account',
        description: 'Newest first: where somebody is logged in.',
        querystring: listQuery(),
        response: { 200: listSchema(SessionSchema) },
      },
    },
    (request) => {
      const { customerId: personId, sessionId } = access.sessionOf(request);
      return listPage(request.query, {
        cursor,
        read: ({ from, limit }) => sessions.list({ personId, before: from?.id, limit }),
        positionOf: ({ id }) => ({ id }),
        show: (session) => toApi(session, sessionId),
      });
    },
  );

  routes.delete(
    '/api/sessions/:id',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'session.ended', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'sessions.end',
        tags,
        summary: 'End a session',
        description: 'Its cookie stops working.',
        params: Type.Object({
          id: Type.String({ maxLength: 100, examples: ['ses_01kaf3v6w8q2m5x9t7c4b1n0ze'] }),
        }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { customerId: personId } = access.sessionOf(request);
      if (!(await sessions.endById({ personId, id: request.params.id })))
        throw errors.not_found({ detail: 'There is no such session.' });
      return reply.code(204).send(null);
    },
  );

  routes.delete(
    '/api/sessions',
    {
      access: 'person',
      rate: 'api',
      audit: { action: 'session.others_ended' },
      idempotency: 'natural',
      schema: {
        operationId: 'sessions.end_others',
        tags,
        summary: 'End all other sessions',
        description: 'All but the one that asks: their cookies stop working.',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { customerId: personId, sessionId } = access.sessionOf(request);
      await sessions.endOthers({ personId, sessionId });
      return reply.code(204).send(null);
    },
  );
}

function toApi(session: LoginSession, currentId: string | undefined) {
  return {
    id: session.id,
    current: session.id === currentId,
    ip: session.ip,
    user_agent: session.userAgent,
    created_at: session.createdAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}
