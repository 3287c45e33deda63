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
import { type Customer, NAME_CHARACTERS_MAX } from './customer.ts';

const CustomerSchema = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    email_verified: Type.Boolean({ description: 'Until it is, nothing else is mailed to the address.' }),
    name: Type.String(),
    plan: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
  },
  {
    title: 'Customer',
    examples: [
      {
        id: 'cus_01kaf3v6w8q2m5x9t7c4b1n0ze',
        email: 'ada@example.com',
        email_verified: true,
        name: 'Ada',
        plan: 'free',
        created_at: '2026-11-16T15:04:05.000Z',
      },
    ],
  },
);
export const CustomerAnswer = Type.Object({ customer: CustomerSchema }, { title: 'Account' });

export const Name = Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: '\\S' });
export const NewEmail = Type.String({
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

export function customerToApi(customer: Customer) {
  const { id, email, name, plan, createdAt, emailVerified } = customer;
  return {
    customer: { id, email, email_verified: emailVerified, name, plan, created_at: createdAt.toISOString() },
  };
}

export function originOf({ ip, headers }: FastifyRequest): SessionOrigin {
  return { ip, userAgent: headers['user-agent'] ?? null };
}
