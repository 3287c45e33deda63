import type { FieldError } from '@libs/runtime';
import Type from 'typebox';
import { closed, idParams, ModeSchema, nullable, oneOfStrings, Timestamp } from '../api-schema.ts';
import { errors } from '../errors.ts';
import { findMoment, momentText, parseMoment } from '../moment.ts';
import { NO_FIELDS, nameMoreFields, type Unchecked } from '../more-fields.ts';
import { type ApiKey, type Scope, scopes } from './key.ts';
import type { NewKey } from './service.ts';

const NAME_LENGTH_MAX = 200;
const OVERLAP_SECONDS_MAX = 30 * 24 * 60 * 60;

export const KeyName = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: '\\S',
  examples: ['Acme'],
});
export const OrganisationParams = idParams('org_01kaf3v6w8q2m5x9t7c4b1n0ze');
export const KeyParams = idParams('key_01kaf3v6w8q2m5x9t7c4b1n0ze');

const keyExample = {
  id: 'key_01kaf3v6w8q2m5x9t7c4b1n0ze',
  object: 'api_key',
  organisation_id: 'org_01kaf3v6w8q2m5x9t7c4b1n0ze',
  mode: 'test',
  name: 'shop',
  hint: 'x7Qe',
  scopes: ['payments:read', 'payments:write'],
  expires_at: null,
  revoked_at: null,
  replaced_by: null,
  created_at: '2026-11-16T15:04:05.000Z',
};

const keyFields = {
  id: Type.String(),
  object: Type.Literal('api_key'),
  organisation_id: Type.String(),
  mode: ModeSchema,
  name: Type.String(),
  hint: Type.String({ description: 'The last characters of the key.' }),
  scopes: Type.Array(Type.String()),
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
  replaced_by: Type.Union([Type.String(), Type.Null()], {
    description: 'The key that took over when this one was rolled.',
  }),
  created_at: Timestamp,
};
export const KeySchema = Type.Object(keyFields, { title: 'ApiKey', examples: [keyExample] });
export const KeyWithToken = Type.Object(
  { ...keyFields, key: Type.String({ description: 'Shown this once.' }) },
  { title: 'ApiKeyWithToken', examples: [{ ...keyExample, key: 'sk_test_…' }] },
);
/** What a new key may say of itself, beside its mode. */
export const NewKeyFields = {
  name: Type.Optional(KeyName),
  scopes: Type.Optional(
    Type.Array(oneOfStrings(scopes), {
      minItems: 1,
      uniqueItems: true,
      description: 'What the key may do; everything when left out.',
    }),
  ),
  expires_at: Type.Optional(
    momentText({
      description: 'ISO 8601, in the future; without it the key has no end.',
      examples: ['2036-11-16T15:04:05Z'],
    }),
  ),
};

export const RollBody = Type.Object(
  {
    overlap_seconds: Type.Integer({
      minimum: 0,
      maximum: OVERLAP_SECONDS_MAX,
      default: 0,
      examples: [3600],
    }),
  },
  { ...closed, title: 'RollApiKey' },
);

export function keyToApi(key: ApiKey) {
  return {
    id: key.id,
    object: 'api_key' as const,
    organisation_id: key.organisationId,
    mode: key.mode,
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    replaced_by: key.replacedBy,
    created_at: key.createdAt.toISOString(),
  };
}

export function newKeyToApi({ key, token }: NewKey) {
  return { ...keyToApi(key), key: token };
}

/** What a request says of the key that it asks for. */
export function newKeyFrom(body: { name?: string; scopes?: Scope[]; expires_at?: string }, now: Date) {
  const { name = 'unnamed', expires_at: expiresAt } = body;
  const expired = expiredFields(body, now);
  if (expired.length > 0) throw errors.invalid_request({ errors: [...expired] });
  return {
    name,
    scopes: body.scopes ?? scopes,
    expiresAt: expiresAt === undefined ? null : parseMoment(expiresAt),
  };
}

/** For the routes that make keys. */
export function nameExpired(now: () => Date) {
  return nameMoreFields((body) => expiredFields(body, now()));
}

/** What is no moment at all is the schema's affair. */
function expiredFields({ expires_at: expiresAt }: Unchecked, now: Date): readonly FieldError[] {
  const end = typeof expiresAt === 'string' ? findMoment(expiresAt) : null;
  if (end === null || end > now) return NO_FIELDS;
  return [{ pointer: '/expires_at', code: 'not_in_future', detail: 'Must be in the future.' }];
}
