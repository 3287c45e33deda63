import { expireCookie, listSchema, noteAudit, parseCookies, serializeCookie } from '@libs/http';
import type { Login, Passkey } from '@libs/login';
import Type from 'typebox';
import type { Suspensions } from '../admin/suspensions.ts';
import { errors } from '../errors.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { Access } from './access.ts';
import { sessionCookie } from './cookies.ts';
import type { Customer } from './customer.ts';
import { CustomerAnswer, customerToApi, GivenPassword, originOf } from './schemas.ts';
import type { CustomerService } from './service.ts';

export interface PasskeyRoutesDependencies {
  customers: Pick<CustomerService, 'find' | 'startSession'>;
  passkeys: Login<Customer>['passkeys'];
  security: Pick<Login<Customer>['security'], 'requirePassword' | 'withPassword'>;
  access: Pick<Access, 'sessionOf' | 'cookieName' | 'secureCookies'>;
  suspensions: Pick<Suspensions, 'refusal'>;
}

const NAME_CHARACTERS_MAX = 100;
const QUESTION_SECONDS = 5 * 60;
const tags = ['Account'];
const closed = { additionalProperties: false } as const;

const PasskeySchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  },
  {
    title: 'Passkey',
    examples: [
      {
        id: 'psk_01kaf3v6w8q2m5x9t7c4b1n0ze',
        name: 'Phone',
        created_at: '2026-11-16T15:04:05.000Z',
        last_used_at: null,
      },
    ],
  },
);

/** What browsers make of it is theirs to say; its content is checked by its signature. */
const DeviceAnswer = Type.Object(
  {},
  {
    title: 'DeviceAnswer',
    additionalProperties: true,
    description: 'What the device answered, as the browser gives it (WebAuthn, as JSON).',
    examples: [{ id: 'kq3f8ZpW0n5sVxT2bYhL6g', type: 'public-key', response: {} }],
  },
);
const DeviceQuestion = Type.Object(
  {},
  {
    title: 'DeviceQuestion',
    additionalProperties: true,
    description: 'For the browser: what the device is asked (WebAuthn, as JSON).',
    examples: [{ challenge: 'kq3f8ZpW0n5sVxT2bYhL6uRcJ9mDgE1a', timeout: 300000 }],
  },
);
const Nothing = Type.Object({}, { ...closed, title: 'AskDevice', examples: [{}] });
/** For what would outlive a session, or undo what guards the account. */
const OwnPassword = Type.Object(
  { password: GivenPassword },
  { ...closed, title: 'OwnPassword', examples: [{ password: 'correct horse battery' }] },
);
const passwordCodes = ['wrong_password', 'too_many_logins', 'busy'] as const;
const answerExample = { id: 'kq3f8ZpW0n5sVxT2bYhL6g', type: 'public-key', response: {} };

function passkeyToApi({ id, name, createdAt, lastUsedAt }: Passkey) {
  return {
    id,
    name,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}

/** Logging in with a passkey instead of the password. */
export function registerPasskeyRoutes(routes: ToolhubRoutes, deps: PasskeyRoutesDependencies): void {
  registerLogin(routes, deps);
  registerAdding(routes, deps);
  registerList(routes, deps);
}

function registerLogin(routes: ToolhubRoutes, deps: PasskeyRoutesDependencies): void {
  const { customers, passkeys, access, suspensions } = deps;
  const questionCookie = access.cookieName.replace('session', 'passkey');
  const strict = { secure: access.secureCookies, sameSite: 'Strict' } as const;

  routes.post(
    '/api/passkey/options',
    {
      access: 'visitor',
      rate: 'address',
      audit: 'none',
      idempotency: 'repeats',
      schema: {
        operationId: 'passkeys.ask',
        tags,
        summary: 'Begin to log in with a passkey',
        description: 'The answer counts once, within five minutes, from the same browser.',
        body: Nothing,
        response: { 200: DeviceQuestion },
      },
    },
    async (_request, reply) => {
      const { options, browserToken } = await passkeys.question(null);
      const cookie = serializeCookie(questionCookie, browserToken, {
        ...strict,
        maxAgeSeconds: QUESTION_SECONDS,
      });
      return reply.header('set-cookie', cookie).send({ ...options });
    },
  );

  routes.post(
    '/api/passkey',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'session.started' },
      idempotency: 'repeats',
      codes: ['passkey_refused', 'customer_suspended'],
      schema: {
        operationId: 'passkeys.log_in',
        tags,
        summary: 'Start a session with a passkey',
        description: 'The device has checked who holds it; no password is needed.',
        body: Type.Object(
          { response: DeviceAnswer },
          { ...closed, title: 'LogInByPasskey', examples: [{ response: answerExample }] },
        ),
        response: { 200: CustomerAnswer },
      },
    },
    async (request, reply) => {
      const { personId } = await passkeys.answer({
        browserToken: parseCookies(request.headers.cookie).get(questionCookie),
        response: request.body.response,
      });
      const outcome = await customers.startSession(personId, originOf(request));
      if (!outcome.ok && outcome.why === 'wrong') throw errors.passkey_refused();
      noteAudit(request, { subject: personId });
      if (!outcome.ok) throw suspensions.refusal();
      return reply
        .header('set-cookie', [
          sessionCookie(access, outcome.sessionToken),
          expireCookie(questionCookie, strict),
        ])
        .send(customerToApi(outcome.customer));
    },
  );
}

function registerAdding(
  routes: ToolhubRoutes,
  { customers, passkeys, security, access }: PasskeyRoutesDependencies,
): void {
  /** Whoever signs up with another's address must not leave a key behind for when its owner comes. */
  async function requireVerified(customerId: string): Promise<Customer> {
    const customer = await customers.find(customerId);
    if (customer?.emailVerified !== true) throw errors.email_not_verified();
    return customer;
  }

  routes.post(
    '/api/passkeys/options',
    {
      access: 'person',
      rate: 'dear',
      audit: 'none',
      idempotency: 'repeats',
      codes: ['email_not_verified', ...passwordCodes],
      schema: {
        operationId: 'passkeys.ask_new',
        tags,
        summary: 'Begin to add a passkey',
        description:
          'With the current password, since a passkey outlives the session that adds it. The answer counts once, within five minutes, in this session. The address must be verified.',
        body: OwnPassword,
        response: { 200: DeviceQuestion },
      },
    },
    async (request) => {
      const { customerId, sessionId = '' } = access.sessionOf(request);
      const customer = await requireVerified(customerId);
      await security.requirePassword(customerId, request.body.password);
      return { ...(await passkeys.registration(customer, sessionId)) };
    },
  );

  routes.post(
    '/api/passkeys',
    {
      access: 'person',
      rate: 'dear',
      audit: { action: 'passkey.added' },
      idempotency: 'repeats',
      codes: ['email_not_verified', 'passkey_not_valid', 'too_many_passkeys'],
      schema: {
        operationId: 'passkeys.add',
        tags,
        summary: 'Add a passkey',
        description: 'With what the device answered. An account can have 20.',
        body: Type.Object(
          {
            name: Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: '\\S' }),
            response: DeviceAnswer,
          },
          { ...closed, title: 'AddPasskey', examples: [{ name: 'Phone', response: answerExample }] },
        ),
        response: { 201: PasskeySchema },
      },
    },
    async (request, reply) => {
      const { customerId: personId, sessionId = '' } = access.sessionOf(request);
      await requireVerified(personId);
      const { name, response } = request.body;
      const passkey = await passkeys.register({ personId, sessionId, name: name.trim(), response });
      noteAudit(request, { target: passkey.id });
      return reply.code(201).send(passkeyToApi(passkey));
    },
  );
}

function registerList(
  routes: ToolhubRoutes,
  { passkeys, security, access }: Pick<PasskeyRoutesDependencies, 'passkeys' | 'security' | 'access'>,
): void {
  routes.get(
    '/api/passkeys',
    {
      access: 'person',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'passkeys.list',
        tags,
        summary: 'The passkeys of the account',
        description: 'All of them, the newest first.',
        response: { 200: listSchema(PasskeySchema) },
      },
    },
    async (request) => ({
      data: (await passkeys.list(access.sessionOf(request).customerId)).map(passkeyToApi),
      next_cursor: null,
    }),
  );

  routes.delete(
    '/api/passkeys/:id',
    {
      access: 'person',
      rate: 'api',
      audit: { action: 'passkey.removed', targetParam: 'id' },
      idempotency: 'natural',
      codes: passwordCodes,
      schema: {
        operationId: 'passkeys.remove',
        tags,
        summary: 'Remove a passkey',
        description: 'With the current password. It no longer logs in; sessions that it started go on.',
        params: Type.Object({
          id: Type.String({ maxLength: 100, examples: ['psk_01kaf3v6w8q2m5x9t7c4b1n0ze'] }),
        }),
        body: OwnPassword,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { customerId: personId } = access.sessionOf(request);
      const { password } = request.body;
      await security.withPassword({ personId, password }, async (tx) => {
        if (!(await passkeys.remove(tx, { personId, id: request.params.id })))
          throw errors.not_found({ detail: 'There is no such passkey.' });
      });
      return reply.code(204).send(null);
    },
  );
}
