import { cursorCodec, listPage, listQuery, listSchema, noteAudit } from '@libs/http';
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
  {
    additionalProperties: false,
    title: 'CreateToken',
    examples: [{ name: 'my assistant', scopes: ['tools:read', 'tools:write'], expires_in_days: 90 }],
  },
);

const nullableDate = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);
const fields = {
  id: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  expires_at: nullableDate,
  created_at: Type.String({ format: 'date-time' }),
};
const example = {
  id: 'tok_01kaf3v6w8q2m5x9t7c4b1n0ze',
  name: 'my assistant',
  scopes: ['tools:read', 'tools:write'],
  expires_at: '2027-02-14T15:04:05.000Z',
  created_at: '2026-11-16T15:04:05.000Z',
};
const CreatedToken = Type.Object(
  { ...fields, token: Type.String({ description: 'Shown this once.' }) },
  { title: 'NewToken', examples: [{ ...example, token: 'thp_…' }] },
);
const ListedToken = Type.Object(
  { ...fields, last_used_at: nullableDate },
  { title: 'Token', examples: [{ ...example, last_used_at: null }] },
);

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
  deps: { tokens: TokenService; access: Pick<Access, 'sessionOf' | 'standingOf'> },
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
      codes: ['token_limit_reached'],
      schema: {
        operationId: 'tokens.create',
        tags,
        summary: 'Make a personal token',
        description:
          'For a client or a script of your own. It is shown this once, and only a person who is logged in can make one.',
        body: NewToken,
        response: { 201: CreatedToken },
      },
    },
    async (request, reply) => {
      const session = access.sessionOf(request);
      const { name, scopes = DEFAULT_TOKEN_SCOPES, expires_in_days: expiresInDays } = request.body;
      const { record, token } = await tokens.create({
        customerId: session.customerId,
        standing: access.standingOf(session),
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
        operationId: 'tokens.list',
        tags,
        summary: 'The personal tokens of the account',
        description: 'Newest first, with when each was last used; never the tokens themselves.',
        querystring: listQuery(),
        response: { 200: listSchema(ListedToken) },
      },
    },
    (request) => {
      const { customerId } = access.sessionOf(request);
      return listPage(request.query, {
        cursor,
        read: ({ from, limit }) => tokens.list({ customerId, before: from?.id, limit }),
        positionOf: ({ id }) => ({ id }),
        show: (token) => ({ ...toApi(token), last_used_at: token.lastUsedAt?.toISOString() ?? null }),
      });
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
        operationId: 'tokens.revoke',
        tags,
        summary: 'Revoke a personal token',
        description: 'It stops working everywhere within a second.',
        params: Type.Object({ id: Type.String({ examples: [example.id] }) }),
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
