import { noteAudit } from '@libs/http';
import type { Login } from '@libs/login';
import Type from 'typebox';
import { closed } from '../api-schema.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { User } from './person.ts';
import { GivenEmail, LinkToken, NewPassword, Nothing, personOf } from './schemas.ts';

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
const tags = ['Session'];

/** What works with a link from a mail: proving the address, and choosing a new password. */
export function registerMailLinkRoutes(
  routes: PaymentsRoutes,
  { security }: { security: Login<User>['security'] },
): void {
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
        description:
          'The token works once, for an hour. All sessions end. Where nobody had verified the address, it is verified, and keys and webhook endpoints of an organisation that nobody else is in go: somebody else may have made them.',
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
