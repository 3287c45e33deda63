import { cursorCodec, listQuery, listSchema, noteAudit, toPage } from '@libs/http';
import Type from 'typebox';
import { errors } from '../errors.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { Access } from './access.ts';
import { DEFAULT_TOKEN_SCOPES, type TokenService } from './tokens.ts';
import type { PersonalToken } from './tokens-store.ts';

const NAME_CHARACTERS_MAX = 100;
const LIFETIME_DAYS_MAX = 3_650;

const TokenScope = Type.Union([
  Type.Literal('tools:read'),
  Type.Literal('tools:write'),
  Type.Literal('account:read'),
  Type.Literal('account:write'),
]);

const NewToken = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: '\\S' }),
    scopes: Type.Optional(Type.Array(TokenScope, { minItems: 1, uniqueItems: true })),
    expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: LIFETIME_DAYS_MAX })),
  },
  { additionalProperties: false },
);

const nullableDate = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);
const fields = {
  id: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  expires_at: nullableDate,
  created_at: Type.String({ format: 'date-time' }),
};
const CreatedToken = Type.Object({ ...fields, token: Type.String({ description: 'Shown this once.' }) });
const ListedToken = Type.Object({ ...fields, last_used_at: nullableDate });

const cursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^tok_[0-9a-z]{26}$' }) }));

function toApi(token: PersonalToken) {
  return {
    id: token.id,
    name: token.name,
    scopes: [...token.scopes],
    expires_at: token.expiresAt?.toISOString() ?? null,
    created_at: token.createdAt.toISOString(),
  };
}

export function registerTokenRoutes(
  routes: ToolhubRoutes,
  deps: { tokens: TokenService; access: Pick<Access, 'sessionOf'> },
): void {
  const { tokens, access } = deps;
  const tags = ['Tokens'];

  routes.post(
    '/api/tokens',
    {
      // An OAuth client must not be able to leave a token behind that outlives it.
      access: 'person',
      rate: 'api',
      audit: { action: 'token.created' },
      idempotency: 'repeats',
      schema: { tags, summary: 'Make a personal token', body: NewToken, response: { 201: CreatedToken } },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      const { name, scopes = DEFAULT_TOKEN_SCOPES, expires_in_days: expiresInDays } = request.body;
      const { record, token } = await tokens.create({
        customerId,
        name: name.trim(),
        scopes,
        expiresInDays,
      });
      noteAudit(request, { target: record.id });
      return reply.code(201).send({ ...toApi(record), token });
    },
  );

  routes.get(
    '/api/tokens',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        tags,
        summary: 'The personal tokens of the account, newest first',
        querystring: listQuery(),
        response: { 200: listSchema(ListedToken) },
      },
    },
    async (request) => {
      const { limit } = request.query;
      const rows = await tokens.list({
        customerId: access.sessionOf(request).customerId,
        before: cursor.decode(request.query.cursor)?.id,
        limit: limit + 1,
      });
      const page = toPage(rows, { limit, cursorOf: (last) => cursor.encode({ id: last.id }) });
      const data = page.data.map((token) => ({
        ...toApi(token),
        last_used_at: token.lastUsedAt?.toISOString() ?? null,
      }));
      return { ...page, data };
    },
  );

  routes.delete(
    '/api/tokens/:id',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'token.revoked', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        tags,
        summary: 'Revoke a personal token',
        params: Type.Object({ id: Type.String() }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      const { id } = request.params;
      if (!(await tokens.revoke({ customerId, id })))
        throw errors.not_found({ detail: 'There is no such token.' });
      return reply.code(204).send(null);
    },
  );
}
