import {
  EMAIL_CHARACTERS_MAX,
  EMAIL_MISMATCH,
  EMAIL_PATTERN,
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
  type SessionOrigin,
} from '@libs/login';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { closed, nullable, oneOfStrings, Timestamp } from '../api-schema.ts';
import { type MemberOf, type PersonCaller, roles } from './person.ts';
import type { SessionView } from './service.ts';

const NAME_CHARACTERS_MAX = 200;

export const PersonName = Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: '\\S' });
export const Email = Type.String({
  maxLength: EMAIL_CHARACTERS_MAX,
  pattern: EMAIL_PATTERN,
  'x-mismatch': EMAIL_MISMATCH,
});
export const NewPassword = Type.String({
  minLength: PASSWORD_CHARACTERS_MIN,
  maxLength: PASSWORD_CHARACTERS_MAX,
});
/** What somebody types as the present password; whether it is right is not for a schema to say. */
export const GivenPassword = Type.String({ minLength: 1, maxLength: PASSWORD_CHARACTERS_MAX });
/** For what would outlive a session, or undo what guards the account. */
export const OwnPassword = Type.Object(
  { password: GivenPassword },
  { ...closed, title: 'OwnPassword', examples: [{ password: 'correct horse battery' }] },
);
/** By which a password that is asked for again is refused. */
export const passwordCodes = ['wrong_password', 'too_many_logins', 'busy'] as const;
/** Looser than sign-up: what cannot be an account is answered like a wrong password. */
export const GivenEmail = Type.String({ minLength: 1, maxLength: EMAIL_CHARACTERS_MAX });
export const LinkToken = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'From the link in the mail.',
});
export const Nothing = Type.Object({}, { ...closed, title: 'Nothing', examples: [{}] });
export const RoleSchema = oneOfStrings(roles);
const LiveAccessSchema = oneOfStrings(['none', 'requested', 'approved', 'refused']);

export function originOf({ ip, headers }: FastifyRequest): SessionOrigin {
  return { ip, userAgent: headers['user-agent'] ?? null };
}

/** The person behind a request that a gate let in as one. */
export function personOf({ person, routeOptions }: FastifyRequest): PersonCaller {
  if (person === null) throw new Error(`${routeOptions.url} reads a person that no gate found`);
  return person;
}

export const SessionSchema = Type.Object(
  {
    object: Type.Literal('session'),
    user: Type.Object({
      id: Type.String(),
      email: Type.String(),
      name: Type.String(),
      email_verified: Type.Boolean({ description: 'Until it is, nothing else is mailed to the address.' }),
      operator: Type.Boolean(),
      passkeys: Type.Integer(),
      passkey_required: Type.Boolean({ description: 'Whether a password alone does not let in.' }),
      created_at: Timestamp,
    }),
    organisation: nullable(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        role: RoleSchema,
        live_access: LiveAccessSchema,
      }),
    ),
    organisations: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), role: RoleSchema })),
  },
  {
    title: 'Session',
    examples: [
      {
        object: 'session',
        user: {
          id: 'usr_01kaf3v6w8q2m5x9t7c4b1n0ze',
          email: 'ada@example.com',
          name: 'Ada',
          email_verified: true,
          operator: false,
          passkeys: 0,
          passkey_required: false,
          created_at: '2026-11-16T15:04:05.000Z',
        },
        organisation: {
          id: 'org_01kaf3v6w8q2m5x9t7c4b1n0ze',
          name: 'Acme',
          role: 'owner',
          live_access: 'none',
        },
        organisations: [{ id: 'org_01kaf3v6w8q2m5x9t7c4b1n0ze', name: 'Acme', role: 'owner' }],
      },
    ],
  },
);

export function sessionToApi({ user, passkeys, organisation, organisations }: SessionView) {
  return {
    object: 'session' as const,
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      email_verified: user.emailVerified,
      operator: user.operator,
      passkeys,
      passkey_required: user.passkeyRequired,
      created_at: user.createdAt.toISOString(),
    },
    organisation:
      organisation === null ? null : { ...memberToApi(organisation), live_access: organisation.liveAccess },
    organisations: organisations.map(memberToApi),
  };
}

const memberToApi = ({ id, name, role }: MemberOf) => ({ id, name, role });
