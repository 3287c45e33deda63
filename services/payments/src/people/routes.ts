import { noteAudit } from '@libs/http';
import type { Login } from '@libs/login';
import type { FieldError } from '@libs/runtime';
import Type from 'typebox';
import { closed } from '../api-schema.ts';
import { errors } from '../errors.ts';
import type { Gates } from '../keys/access.ts';
import { NO_FIELDS, nameMoreFields, type Unchecked } from '../more-fields.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { SessionCookies } from './cookies.ts';
import { registerMailLinkRoutes } from './mail-link-routes.ts';
import type { PersonCaller, User } from './person.ts';
import {
  Email,
  GivenEmail,
  GivenPassword,
  LinkToken,
  NewPassword,
  Nothing,
  originOf,
  PersonName,
  passwordCodes,
  personOf,
  SessionSchema,
  sessionToApi,
} from './schemas.ts';
import type { PeopleService } from './service.ts';

export interface SessionRouteDependencies {
  people: PeopleService;
  security: Login<User>['security'];
  gates: Pick<Gates, 'cookieOf'>;
  cookies: SessionCookies;
}

const tags = ['Session'];

const Signup = Type.Object(
  {
    email: Email,
    password: NewPassword,
    name: Type.Optional(PersonName),
    organisation: Type.Optional(PersonName),
    invitation: Type.Optional(LinkToken),
  },
  {
    ...closed,
    title: 'SignUp',
    examples: [{ email: 'ada@example.com', password: 'correct horse battery', organisation: 'Acme' }],
  },
);

/** Logging in and out, proving the address, and getting back in. */
export function registerSessionRoutes(routes: PaymentsRoutes, deps: SessionRouteDependencies): void {
  registerEntry(routes, deps);
  registerOwnSession(routes, deps);
  registerMailLinkRoutes(routes, deps);
}

function registerEntry(routes: PaymentsRoutes, { people, gates, cookies }: SessionRouteDependencies): void {
  routes.post(
    '/v1/session/signup',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'user.created' },
      idempotency: 'repeats',
      codes: ['email_taken', 'link_not_valid', 'invitation_for_another', 'busy'],
      schema: {
        operationId: 'session.signup',
        tags,
        summary: 'Sign up',
        description:
          'Makes a person and an organisation that is theirs; with the token of an `invitation` the person joins that organisation instead. The answer sets the cookie of a session, and a mail asks to verify the address.',
        body: Signup,
        response: { 201: SessionSchema },
      },
    },
    async (request, reply) => {
      const { email, password } = request.body;
      const name = request.body.name ?? (email.split('@', 1)[0] as string);
      const signedIn = await people.signup({
        ...{ email, password, name, from: originOf(request) },
        organisation: request.body.organisation ?? name,
        invitation: request.body.invitation ?? null,
      });
      // Who joins others stands in their log; one's own begins with what is done in it.
      const joined = request.body.invitation ? signedIn.organisation : null;
      noteAudit(request, { subject: signedIn.user.id, organisations: joined === null ? [] : [joined.id] });
      return reply
        .code(201)
        .header('set-cookie', cookies.ofSession(signedIn.token))
        .send(sessionToApi(signedIn));
    },
  );

  routes.post(
    '/v1/session/login',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'session.started' },
      idempotency: 'repeats',
      codes: ['invalid_credentials', 'passkey_required', 'too_many_logins', 'busy'],
      schema: {
        operationId: 'session.login',
        tags,
        summary: 'Log in',
        description: 'The answer sets the cookie of a session.',
        body: Type.Object(
          { email: GivenEmail, password: GivenPassword },
          {
            ...closed,
            title: 'LogIn',
            examples: [{ email: 'ada@example.com', password: 'correct horse battery' }],
          },
        ),
        response: { 200: SessionSchema },
      },
    },
    async (request, reply) => {
      const signedIn = await people.login({ ...request.body, from: originOf(request) });
      if (signedIn === undefined) throw errors.invalid_credentials();
      if ('question' in signedIn) {
        const { options, browserToken } = signedIn.question;
        throw errors.passkey_required({
          extra: { options },
          headers: { 'set-cookie': cookies.ofQuestion(browserToken) },
        });
      }
      noteAudit(request, { subject: signedIn.user.id });
      return reply.header('set-cookie', cookies.ofSession(signedIn.token)).send(sessionToApi(signedIn));
    },
  );

  routes.post(
    '/v1/session/logout',
    {
      access: 'visitor',
      rate: 'none',
      audit: { action: 'session.ended' },
      idempotency: 'natural',
      schema: {
        operationId: 'session.logout',
        tags,
        summary: 'Log out',
        description: 'The cookie stops working at once; without one nothing happens.',
        body: Nothing,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const cookie = gates.cookieOf(request);
      if (cookie !== undefined) await people.logout(cookie);
      return reply.code(204).header('set-cookie', cookies.withoutSession).send(null);
    },
  );
}

function registerOwnSession(routes: PaymentsRoutes, { people, security }: SessionRouteDependencies): void {
  const viewFor = async ({ userId, membership }: PersonCaller) =>
    sessionToApi(await people.view(userId, membership?.organisationId ?? null));

  routes.get(
    '/v1/session',
    {
      access: 'person',
      rate: 'person',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'session.get',
        tags,
        summary: 'Who is logged in, and where',
        description: 'The person, the organisation that its pages show, and the others.',
        response: { 200: SessionSchema },
      },
    },
    (request) => viewFor(personOf(request)),
  );

  routes.patch(
    '/v1/session',
    {
      access: 'person',
      rate: 'person',
      audit: { action: 'user.changed' },
      idempotency: 'natural',
      codes: ['state_conflict', ...passwordCodes],
      errorHandler: nameMoreFields(missingPassword),
      schema: {
        operationId: 'session.update',
        tags,
        summary: 'Change the name, and whether a password alone is enough',
        description:
          'The name is shown to other members. What is left out stays. Whether a passkey is demanded changes with the current `password` only.',
        body: Type.Object(
          {
            name: Type.Optional(PersonName),
            passkey_required: Type.Optional(Type.Boolean()),
            password: Type.Optional(GivenPassword),
          },
          { ...closed, minProperties: 1, title: 'UpdateSession', examples: [{ name: 'Ada' }] },
        ),
        response: { 200: SessionSchema },
      },
    },
    async (request) => {
      const person = personOf(request);
      const { name, passkey_required: required, password = '' } = request.body;
      const missing = missingPassword(request.body);
      if (missing.length > 0) throw errors.invalid_request({ errors: [...missing] });
      const passkey = required === undefined ? undefined : { required, password };
      await people.update(person.userId, { name, passkey });
      return viewFor(person);
    },
  );

  routes.post(
    '/v1/session/password',
    {
      access: 'person',
      rate: 'person',
      audit: { action: 'user.password_changed' },
      idempotency: 'natural',
      codes: passwordCodes,
      schema: {
        operationId: 'session.change_password',
        tags,
        summary: 'Change the password',
        description: 'All other sessions end.',
        body: Type.Object(
          { current: GivenPassword, new: NewPassword },
          {
            ...closed,
            title: 'ChangePassword',
            examples: [{ current: 'correct horse battery', new: 'another horse battery' }],
          },
        ),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { userId: personId, sessionId } = personOf(request);
      const { current, new: next } = request.body;
      await security.changePassword({ personId, sessionId, current, next });
      return reply.code(204).send(null);
    },
  );
}

function missingPassword({ passkey_required: required, password }: Unchecked): readonly FieldError[] {
  if (required === undefined || password !== undefined) return NO_FIELDS;
  return [{ pointer: '/password', code: 'required', detail: 'This field is required.' }];
}
