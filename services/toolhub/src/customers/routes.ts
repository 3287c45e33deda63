import { expireCookie, noteAudit } from '@libs/http';
import { EMAIL_CHARACTERS_MAX, type Login as LoginLibrary, loginErrors } from '@libs/login';
import Type from 'typebox';
import type { Suspensions } from '../admin/suspensions.ts';
import { errors } from '../errors.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { Access } from './access.ts';
import { sessionCookie } from './cookies.ts';
import type { Customer } from './customer.ts';
import type { Erasure } from './erasure.ts';
import {
  CustomerAnswer,
  customerToApi,
  GivenPassword,
  Name,
  NewEmail,
  NewPassword,
  originOf,
} from './schemas.ts';
import type { CustomerService } from './service.ts';

export interface CustomerRoutesDependencies {
  customers: CustomerService;
  security: Pick<LoginLibrary<Customer>['security'], 'requirePassword' | 'holdPassword'>;
  erasure: Pick<Erasure, 'erase'>;
  access: Pick<Access, 'sessionOf' | 'standingOf' | 'cookieOf' | 'cookieName' | 'secureCookies'>;
  suspensions: Pick<Suspensions, 'refusal'>;
}

const Signup = Type.Object(
  {
    email: NewEmail,
    password: NewPassword,
    name: Name,
  },
  {
    additionalProperties: false,
    title: 'SignUp',
    examples: [{ email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }],
  },
);

/** Looser than sign-up: what cannot be an account is answered like a wrong password. */
const Login = Type.Object(
  { email: Type.String({ minLength: 1, maxLength: EMAIL_CHARACTERS_MAX }), password: GivenPassword },
  {
    additionalProperties: false,
    title: 'LogIn',
    examples: [{ email: 'ada@example.com', password: 'correct horse battery' }],
  },
);

const tags = ['Account'];

export function registerCustomerRoutes(routes: ToolhubRoutes, deps: CustomerRoutesDependencies): void {
  registerSessions(routes, deps);
  registerAccount(routes, deps);
}

function registerSessions(
  routes: ToolhubRoutes,
  { customers, access, suspensions }: CustomerRoutesDependencies,
): void {
  routes.post(
    '/api/auth/signup',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'account.created' },
      idempotency: 'repeats',
      codes: ['email_taken', 'busy'],
      schema: {
        operationId: 'account.sign_up',
        tags,
        summary: 'Open an account',
        description: 'The answer sets the cookie of a session. A mail asks to verify the address.',
        body: Signup,
        response: { 201: CustomerAnswer },
      },
    },
    async (request, reply) => {
      const { customer, sessionToken } = await customers.signup({ ...request.body, from: originOf(request) });
      noteAudit(request, { subject: customer.id });
      const cookie = sessionCookie(access, sessionToken);
      return reply.code(201).header('set-cookie', cookie).send(customerToApi(customer));
    },
  );

  routes.post(
    '/api/auth/login',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'session.started' },
      idempotency: 'repeats',
      codes: ['invalid_credentials', 'too_many_logins', 'busy', 'customer_suspended'],
      schema: {
        operationId: 'account.log_in',
        tags,
        summary: 'Start a session',
        description:
          'The answer sets the cookie of the session. Ten failed tries close an account for a while. One that is suspended is refused, which only who knows the password is told.',
        body: Login,
        response: { 200: CustomerAnswer },
      },
    },
    async (request, reply) => {
      const outcome = await customers.login({ ...request.body, from: originOf(request) });
      if (!outcome.ok) {
        noteAudit(request, { subject: outcome.customerId });
        throw outcome.why === 'suspended' ? suspensions.refusal() : errors.invalid_credentials();
      }
      const { customer, sessionToken } = outcome;
      noteAudit(request, { subject: customer.id });
      return reply.header('set-cookie', sessionCookie(access, sessionToken)).send(customerToApi(customer));
    },
  );

  routes.post(
    '/api/auth/logout',
    {
      access: 'own_site',
      rate: 'none',
      audit: { action: 'session.ended' },
      idempotency: 'natural',
      schema: {
        operationId: 'account.log_out',
        tags,
        summary: 'End the session',
        description: 'The cookie stops working at once; without one nothing happens.',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const cookie = access.cookieOf(request);
      const ended = cookie === undefined ? undefined : await customers.logout(cookie);
      noteAudit(request, { subject: ended?.customerId ?? null });
      return reply
        .code(204)
        .header('set-cookie', expireCookie(access.cookieName, { secure: access.secureCookies }))
        .send(null);
    },
  );
}

function registerAccount(routes: ToolhubRoutes, deps: CustomerRoutesDependencies): void {
  const { customers, access } = deps;
  routes.get(
    '/api/me',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'account.get',
        tags,
        summary: 'The account of the caller',
        description: 'Whose token or cookie it is.',
        response: { 200: CustomerAnswer },
      },
    },
    async (request) => {
      const customer = await customers.find(access.sessionOf(request).customerId);
      if (customer === undefined) throw errors.unauthenticated();
      return customerToApi(customer);
    },
  );

  routes.patch(
    '/api/me',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'account.renamed' },
      idempotency: 'natural',
      schema: {
        operationId: 'account.update',
        tags,
        summary: 'Change the name of the account',
        description: 'The name is shown in the dashboard and on invoices.',
        body: Type.Object(
          { name: Name },
          { additionalProperties: false, title: 'UpdateAccount', examples: [{ name: 'Ada' }] },
        ),
        response: { 200: CustomerAnswer },
      },
    },
    async (request) => {
      const session = access.sessionOf(request);
      const standing = access.standingOf(session);
      const customer = await customers.rename(session.customerId, request.body.name, standing);
      if (customer === undefined) throw errors.unauthenticated();
      return customerToApi(customer);
    },
  );

  routes.delete(
    '/api/me',
    {
      access: 'person',
      rate: 'dear',
      // There is no log left to write to.
      audit: 'none',
      idempotency: 'natural',
      codes: ['wrong_password', 'too_many_logins', 'busy'],
      schema: {
        operationId: 'account.close',
        tags,
        summary: 'Close the account',
        description:
          'Removes everything of the account but its invoices, which the law makes us keep. What the month has cost so far, ' +
          'its days up to today and its calls, is invoiced and mailed now.',
        body: Type.Object(
          { password: GivenPassword },
          {
            additionalProperties: false,
            title: 'CloseAccount',
            examples: [{ password: 'correct horse battery' }],
          },
        ),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      const proven = await deps.security.requirePassword(customerId, request.body.password);
      await deps.erasure.erase(customerId, async (tx) => {
        // Who knew the old password must not end the account of whoever reset it meanwhile.
        if (!(await deps.security.holdPassword(tx, proven))) throw loginErrors.wrong_password();
      });
      return reply
        .code(204)
        .header('set-cookie', expireCookie(access.cookieName, { secure: access.secureCookies }))
        .send(null);
    },
  );
}
