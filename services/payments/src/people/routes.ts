import { noteAudit } from '@libs/http';
import type { Login } from '@libs/login';
import Type from 'typebox';
import { closed } from '../api-schema.ts';
import { errors } from '../errors.ts';
import type { Gates } from '../keys/access.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { SessionCookies } from './cookies.ts';
import type { PersonCaller, User } from './person.ts';
import {
  Email,
  GivenEmail,
  GivenPassword,
  LinkToken,
  NewPassword,
  originOf,
  PersonName,
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

const Accepted = Type.Object(
  {},
  { title: 'Accepted', description: 'Nothing is told here; see the mail.', examples: [{}] },
);
const Verified = Type.Object(
  { email: Type.String(), email_verified: Type.Boolean() },
  { title: 'VerifiedAddress', examples: [{ email: 'ada@example.com', email_verified: true }] },
);
/** As it stands in a mail. */
const link = 'kq3f8ZpW0n5sVxT2bYhL6uRcJ9mDgE1a';
const Nothing = Type.Object({}, { ...closed, title: 'Nothing', examples: [{}] });
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
  registerMailLinks(routes, deps);
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
      noteAudit(request, { subject: signedIn.user.id });
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
      codes: ['state_conflict'],
      schema: {
        operationId: 'session.update',
        tags,
        summary: 'Change the name, and whether a password alone is enough',
        description: 'The name is shown to other members. What is left out stays.',
        body: Type.Object(
          { name: Type.Optional(PersonName), passkey_required: Type.Optional(Type.Boolean()) },
          { ...closed, minProperties: 1, title: 'UpdateSession', examples: [{ name: 'Ada' }] },
        ),
        response: { 200: SessionSchema },
      },
    },
    async (request) => {
      const person = personOf(request);
      const { name, passkey_required: passkeyRequired } = request.body;
      await people.update(person.userId, { name, passkeyRequired });
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
      codes: ['wrong_password', 'too_many_logins', 'busy'],
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

function registerMailLinks(routes: PaymentsRoutes, { security }: SessionRouteDependencies): void {
  routes.post(
    '/v1/session/verify',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'user.verified' },
      idempotency: 'repeats',
      codes: ['link_not_valid'],
      schema: {
        operationId: 'session.verify',
        tags,
        summary: 'Verify the e-mail address',
        description: 'With the token from the mail; it works once, for 24 hours.',
        body: Type.Object(
          { token: LinkToken },
          { ...closed, title: 'VerifyAddress', examples: [{ token: link }] },
        ),
        response: { 200: Verified },
      },
    },
    async (request) => {
      const { id, email, emailVerified } = await security.verify(request.body.token);
      noteAudit(request, { subject: id });
      return { email, email_verified: emailVerified };
    },
  );

  routes.post(
    '/v1/session/verify/resend',
    {
      access: 'person',
      rate: 'person',
      audit: { action: 'user.verification_sent' },
      idempotency: 'repeats',
      schema: {
        operationId: 'session.resend_verification',
        tags,
        summary: 'Send the mail that verifies the address again',
        description: 'Nothing happens where it is verified already.',
        body: Nothing,
        response: { 202: Accepted },
      },
    },
    async (request, reply) => {
      await security.resendVerification(personOf(request).userId);
      return reply.code(202).send({});
    },
  );

  routes.post(
    '/v1/session/forgot',
    {
      access: 'visitor',
      rate: 'address',
      audit: 'none',
      idempotency: 'repeats',
      schema: {
        operationId: 'session.forgot',
        tags,
        summary: 'Ask for a link to choose a new password',
        description: 'The answer is the same whether or not there is such an account.',
        body: Type.Object(
          { email: GivenEmail },
          { ...closed, title: 'ForgotPassword', examples: [{ email: 'ada@example.com' }] },
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
    '/v1/session/reset',
    {
      access: 'visitor',
      rate: 'address',
      audit: { action: 'user.password_reset' },
      idempotency: 'repeats',
      codes: ['link_not_valid', 'busy'],
      schema: {
        operationId: 'session.reset',
        tags,
        summary: 'Choose a new password with the link from the mail',
        description: 'The token works once, for an hour. All sessions end.',
        body: Type.Object(
          { token: LinkToken, password: NewPassword },
          {
            ...closed,
            title: 'ResetPassword',
            examples: [{ token: link, password: 'another horse battery' }],
          },
        ),
        response: { 200: Accepted },
      },
    },
    async (request) => {
      const { personId } = await security.reset(request.body);
      noteAudit(request, { subject: personId });
      return {};
    },
  );
}
