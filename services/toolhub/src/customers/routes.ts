import { type App, expireCookie, type RateLimit, serializeCookie } from '@libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { NewAuditEntry } from '../audit/entry.ts';
import type { AuditService } from '../audit/service.ts';
import { errors } from '../errors.ts';
import type { Access } from './access.ts';
import { addressKey } from './address-key.ts';
import {
  type Customer,
  EMAIL_CHARACTERS_MAX,
  EMAIL_PATTERN,
  NAME_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
} from './customer.ts';
import { type CustomerService, SESSION_DAYS } from './service.ts';

export interface CustomerRoutesDependencies {
  customers: CustomerService;
  access: Access;
  audit: AuditService;
  /** Sign-ups, registrations and logins per network address. */
  addressLimit: RateLimit;
}

const SESSION_SECONDS = SESSION_DAYS * 24 * 60 * 60;

const CustomerAnswer = Type.Object({
  customer: Type.Object({
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    plan: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
  }),
});

const Signup = Type.Object(
  {
    email: Type.String({ maxLength: EMAIL_CHARACTERS_MAX, pattern: EMAIL_PATTERN }),
    password: Type.String({ minLength: PASSWORD_CHARACTERS_MIN, maxLength: PASSWORD_CHARACTERS_MAX }),
    name: Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: '\\S' }),
  },
  { additionalProperties: false },
);

/** Looser than sign-up: what cannot be an account is answered like a wrong password. */
const Login = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: EMAIL_CHARACTERS_MAX }),
    password: Type.String({ minLength: 1, maxLength: PASSWORD_CHARACTERS_MAX }),
  },
  { additionalProperties: false },
);

function toApi(customer: Customer) {
  const { id, email, name, plan, createdAt } = customer;
  return { customer: { id, email, name, plan, created_at: createdAt.toISOString() } };
}

export function sessionCookie(access: Access, sessionToken: string): string {
  return serializeCookie(access.cookieName, sessionToken, {
    secure: access.secureCookies,
    maxAgeSeconds: SESSION_SECONDS,
  });
}

function loginEntry(
  request: FastifyRequest,
  customerId: string,
  change: Pick<NewAuditEntry, 'action' | 'outcome'>,
): NewAuditEntry {
  return {
    ...change,
    customerId,
    actor: { type: 'customer', id: customerId },
    target: null,
    ip: request.ip,
    requestId: request.id,
  };
}

export function registerCustomerRoutes(app: App, deps: CustomerRoutesDependencies): void {
  const { customers, access, audit, addressLimit } = deps;
  const guard = async (request: FastifyRequest, reply: FastifyReply) => {
    // A foreign page must not be able to log a browser into an account of its choice either.
    access.requireOwnOrigin(request);
    await addressLimit.enforce(addressKey(request.ip), reply);
  };
  const tags = ['Account'];

  app.post(
    '/api/auth/signup',
    {
      onRequest: guard,
      schema: {
        tags,
        summary: 'Open an account',
        security: [],
        body: Signup,
        response: { 201: CustomerAnswer },
      },
    },
    async (request, reply) => {
      const { customer, sessionToken } = await customers.signup(request.body);
      void audit.record([
        loginEntry(request, customer.id, { action: 'account.created', outcome: 'success' }),
      ]);
      return reply.code(201).header('set-cookie', sessionCookie(access, sessionToken)).send(toApi(customer));
    },
  );

  app.post(
    '/api/auth/login',
    {
      onRequest: guard,
      schema: {
        tags,
        summary: 'Start a session',
        security: [],
        body: Login,
        response: { 200: CustomerAnswer },
      },
    },
    async (request, reply) => {
      const outcome = await customers.login(request.body);
      if (!outcome.ok) {
        const { customerId } = outcome;
        if (customerId !== null)
          void audit.record([
            loginEntry(request, customerId, { action: 'session.started', outcome: 'refused' }),
          ]);
        throw errors.invalid_credentials();
      }
      const { customer, sessionToken } = outcome;
      void audit.record([
        loginEntry(request, customer.id, { action: 'session.started', outcome: 'success' }),
      ]);
      return reply.header('set-cookie', sessionCookie(access, sessionToken)).send(toApi(customer));
    },
  );

  app.post(
    '/api/auth/logout',
    {
      onRequest: async (request) => access.requireSameOrigin(request),
      schema: { tags, summary: 'End the session', security: [], response: { 204: Type.Null() } },
    },
    async (request, reply) => {
      const cookie = access.cookieOf(request);
      const ended = cookie === undefined ? undefined : await customers.logout(cookie);
      if (ended !== undefined)
        void audit.record([
          loginEntry(request, ended.customerId, { action: 'session.ended', outcome: 'success' }),
        ]);
      return reply
        .code(204)
        .header('set-cookie', expireCookie(access.cookieName, { secure: access.secureCookies }))
        .send(null);
    },
  );

  app.get(
    '/api/me',
    {
      onRequest: access.customer('read'),
      schema: { tags, summary: 'The account of the caller', response: { 200: CustomerAnswer } },
    },
    async (request) => {
      const customer = await customers.find(access.sessionOf(request).customerId);
      if (customer === undefined) throw errors.unauthenticated();
      return toApi(customer);
    },
  );
}
