import { noteAudit, objectListSchema } from '@libs/http';
import type { Login, Passkey } from '@libs/login';
import Type from 'typebox';
import { closed, idParams, nullable, Timestamp } from '../api-schema.ts';
import { errors } from '../errors.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { SessionCookies } from './cookies.ts';
import type { User } from './person.ts';
import { OwnPassword, originOf, passwordCodes, personOf, SessionSchema, sessionToApi } from './schemas.ts';
import type { PeopleService } from './service.ts';

export interface PasskeyRouteDependencies {
  people: PeopleService;
  passkeys: Login<User>['passkeys'];
  security: Pick<Login<User>['security'], 'requirePassword'>;
  cookies: SessionCookies;
}

const NAME_CHARACTERS_MAX = 100;
const tags = ['Session'];

const PasskeySchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('passkey'),
    name: Type.String(),
    created_at: Timestamp,
    last_used_at: nullable(Timestamp),
  },
  { title: 'Passkey' },
);

/** What browsers make of it is theirs to say; its content is checked by its signature. */
const DeviceAnswer = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'What the device answered, as the browser gives it (WebAuthn, as JSON).',
  },
);
const DeviceQuestion = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'For the browser: what the device is asked (WebAuthn, as JSON).',
  },
);

function passkeyToApi({ id, name, createdAt, lastUsedAt }: Passkey) {
  return {
    id,
    object: 'passkey' as const,
    name,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}

/** Passkeys, instead of a password or beside it. */
export function registerPasskeyRoutes(routes: PaymentsRoutes, deps: PasskeyRouteDependencies): void {
  registerEntry(routes, deps);
  registerAdding(routes, deps);
  registerOwn(routes, deps);
}

function registerEntry(
  routes: PaymentsRoutes,
  { people, passkeys, cookies }: PasskeyRouteDependencies,
): void {
  routes.post(
    '/v1/session/passkey/options',
    {
      access: 'visitor',
      rate: 'address',
      audit: 'none',
      idempotency: 'repeats',
      schema: {
        operationId: 'session.ask_passkey',
        tags,
        summary: 'Begin to log in with a passkey alone',
        body: Type.Object({}, closed),
        response: { 200: DeviceQuestion },
      },
    },
    async (_request, reply) => {
      const { options, browserToken } = await passkeys.question(null);
      return reply.header('set-cookie', cookies.ofQuestion(browserToken)).send(options);
    },
  );

  routes.post(
    '/v1/session/passkey',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'session.started' },
      idempotency: 'repeats',
      codes: ['passkey_refused'],
      schema: {
        operationId: 'session.login_by_passkey',
        tags,
        summary: 'Log in with a passkey',
        description: 'Alone, or after a password that was right but not enough.',
        body: Type.Object({ response: DeviceAnswer }, closed),
        response: { 200: SessionSchema },
      },
    },
    async (request, reply) => {
      const answered = await passkeys.answer({
        browserToken: cookies.questionOf(request),
        response: request.body.response,
      });
      const signedIn = await people.startSession(answered, originOf(request));
      if (signedIn === undefined) throw errors.passkey_refused();
      noteAudit(request, { subject: answered.personId });
      return reply
        .header('set-cookie', [cookies.ofSession(signedIn.token), cookies.withoutQuestion])
        .send(sessionToApi(signedIn));
    },
  );
}

function registerAdding(
  routes: PaymentsRoutes,
  { people, passkeys, security }: PasskeyRouteDependencies,
): void {
  routes.post(
    '/v1/session/passkeys/options',
    {
      access: 'person',
      rate: 'person',
      audit: 'none',
      idempotency: 'repeats',
      codes: ['email_not_verified', ...passwordCodes],
      schema: {
        operationId: 'session.ask_new_passkey',
        tags,
        summary: 'Begin to add a passkey',
        description: 'With the current password: a passkey outlives the session that adds it.',
        body: OwnPassword,
        response: { 200: DeviceQuestion },
      },
    },
    async (request) => {
      const { userId, sessionId, emailVerified } = personOf(request);
      // Whoever signs up with another's address must not leave a key behind for when its owner comes.
      if (!emailVerified) throw errors.email_not_verified();
      await security.requirePassword(userId, request.body.password);
      const { user } = await people.view(userId, null);
      return { ...(await passkeys.registration(user, sessionId)) };
    },
  );

  routes.post(
    '/v1/session/passkeys',
    {
      access: 'person',
      rate: 'person',
      audit: { action: 'passkey.added' },
      idempotency: 'repeats',
      codes: ['email_not_verified', 'passkey_not_valid', 'too_many_passkeys'],
      schema: {
        operationId: 'session.add_passkey',
        tags,
        summary: 'Add a passkey',
        description:
          'With the answer of the device to what it was asked in this session, after the password.',
        body: Type.Object(
          {
            name: Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: '\\S' }),
            response: DeviceAnswer,
          },
          closed,
        ),
        response: { 201: PasskeySchema },
      },
    },
    async (request, reply) => {
      const { userId: personId, sessionId, emailVerified } = personOf(request);
      if (!emailVerified) throw errors.email_not_verified();
      const { name, response } = request.body;
      const passkey = await passkeys.register({ personId, sessionId, name: name.trim(), response });
      noteAudit(request, { target: passkey.id });
      return reply.code(201).send(passkeyToApi(passkey));
    },
  );
}

function registerOwn(routes: PaymentsRoutes, { people, passkeys }: PasskeyRouteDependencies): void {
  routes.get(
    '/v1/session/passkeys',
    {
      access: 'person',
      rate: 'person',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'session.list_passkeys',
        tags,
        summary: 'List the passkeys of the person',
        response: { 200: objectListSchema(PasskeySchema) },
      },
    },
    async (request) => ({
      object: 'list' as const,
      data: (await passkeys.list(personOf(request).userId)).map(passkeyToApi),
      next_cursor: null,
    }),
  );

  routes.delete(
    '/v1/session/passkeys/:id',
    {
      access: 'person',
      rate: 'person',
      audit: { action: 'passkey.removed', targetParam: 'id' },
      idempotency: 'natural',
      codes: ['last_passkey', ...passwordCodes],
      schema: {
        operationId: 'session.remove_passkey',
        tags,
        summary: 'Remove a passkey',
        description: 'With the current password.',
        params: idParams('psk_01kaf3v6w8q2m5x9t7c4b1n0ze'),
        body: OwnPassword,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { userId } = personOf(request);
      await people.removePasskey({ userId, id: request.params.id, password: request.body.password });
      return reply.code(204).send(null);
    },
  );
}
