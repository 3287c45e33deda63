// Declared routes: no decision can be left out, each is done by one rule, and refusals are audited.
import { defineErrors, type FieldError } from '@libs/runtime';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { createTestApp } from '../test/test-app.ts';
import {
  type App,
  type AuditedCall,
  createRoutes,
  noteAudit,
  RateLimits,
  type RouteRules,
  type Routes,
} from './index.ts';

const errors = defineErrors({
  unauthenticated: { kind: 'unauthenticated', title: 'Unauthenticated' },
  forbidden: { kind: 'forbidden', title: 'Forbidden' },
  not_yours: { kind: 'not_found', title: 'Not yours' },
});

type Access = 'public' | 'reader' | 'writer';
type Rate = 'some' | 'none';
type Tx = { readonly id: number };
type Line = AuditedCall & { caller: string | undefined };

let app: App;
let routes: Routes<Access, Rate, Tx>;
let lines: Line[];
let order: string[];
let limits: RateLimits;
const callers = new WeakMap<FastifyRequest, string>();

function rules(): RouteRules<Access, Rate, Tx> {
  limits = new RateLimits();
  const limit = limits.limit({ name: 'some', limit: 1, burst: 3 });
  return {
    identify: (need) => {
      if (need === 'public') return null;
      return (request) => {
        order.push('identify');
        const caller = request.headers['x-caller'];
        if (typeof caller !== 'string') throw errors.unauthenticated();
        callers.set(request, caller);
      };
    },
    rate: (rateClass) =>
      rateClass === 'none'
        ? null
        : (request, reply) => {
            order.push('rate');
            return limit.enforce(callers.get(request) ?? request.ip, reply);
          },
    permit: (need) =>
      need === 'writer'
        ? async (request) => {
            order.push('permit');
            if (callers.get(request) !== 'writer') throw errors.forbidden();
          }
        : null,
    audit: (request, call) => void lines.push({ ...call, caller: callers.get(request) }),
    once: async (request, reply, { work }) => {
      const key = request.headers['idempotency-key'];
      const { status, body } = await work({ id: key === undefined ? 0 : 1 });
      return reply.code(status).send(body);
    },
    security: (need) => (need === 'public' ? [] : [{ bearer: [need] }]),
    codes: ({ access, rate }) => [
      ...(access === 'public' ? [] : ['unauthenticated']),
      ...(rate === 'none' ? [] : ['rate_limited']),
    ],
    parameters: ({ idempotency }) => (idempotency === 'keyed' ? ['Key'] : []),
  };
}

beforeEach(async () => {
  lines = [];
  order = [];
  app = await createTestApp({
    errors,
    openapi: {
      title: 'Things',
      description: '',
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      parameters: {
        Key: { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } },
      },
    },
  });
  routes = createRoutes(app, rules());
  const Thing = Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: false });
  routes.post(
    '/v1/declared',
    {
      access: 'writer',
      rate: 'some',
      audit: { action: 'thing.created' },
      idempotency: 'repeats',
      schema: { body: Thing, response: { 201: Type.Object({ id: Type.String() }) } },
    },
    async (request, reply) => {
      expectTypeOf(request.body).toEqualTypeOf<{ name: string }>();
      noteAudit(request, { target: `thing_${request.body.name}` });
      return reply.code(201).send({ id: `thing_${request.body.name}` });
    },
  );
  routes.delete(
    '/v1/declared/:id',
    {
      access: 'writer',
      rate: 'none',
      audit: { action: 'thing.removed', targetParam: 'id' },
      idempotency: 'natural',
      schema: { params: Type.Object({ id: Type.String() }) },
    },
    async (request) => {
      if (request.params.id === 'broken') throw new Error('broken');
      throw errors.not_yours();
    },
  );
  routes.put(
    '/v1/declared/fixed',
    {
      access: 'writer',
      rate: 'none',
      audit: { action: 'thing.fixed', target: 'fixed' },
      idempotency: 'natural',
      schema: { body: Thing },
    },
    async () => ({}),
  );
  routes.patch(
    '/v1/declared/:id',
    {
      access: 'writer',
      rate: 'none',
      audit: { action: 'thing.owned', targetParam: 'id' },
      idempotency: 'natural',
      schema: { params: Type.Object({ id: Type.String() }), body: Thing },
    },
    async (request) => {
      noteAudit(request, { subject: request.params.id });
      return {};
    },
  );
  routes.put(
    '/v1/declared/:id',
    {
      access: 'reader',
      rate: 'none',
      audit: { action: 'thing.put', targetParam: 'id' },
      idempotency: 'keyed',
      schema: { operationId: 'putThing', params: Type.Object({ id: Type.String() }), body: Thing },
    },
    async (request, tx) => {
      expectTypeOf(tx).toEqualTypeOf<Tx>();
      expectTypeOf(request.params).toEqualTypeOf<{ id: string }>();
      noteAudit(request, { action: 'thing.renamed', subject: 'somebody' });
      return { status: 202, body: { name: request.body.name, tx: tx.id } };
    },
  );
  routes.get(
    '/v1/declared',
    { access: 'public', rate: 'none', audit: 'none', idempotency: 'safe' },
    async () => ({ fine: true }),
  );
});
afterEach(async () => {
  await app.close();
  await limits.close();
});

const create = (caller?: string, body: object = { name: 'a' }) =>
  app.inject({
    method: 'POST',
    url: '/v1/declared',
    body,
    headers: caller === undefined ? {} : { 'x-caller': caller },
  });

describe('gates', () => {
  test('run in their order, before the body is read', async () => {
    expect((await create('writer')).statusCode).toBe(201);
    expect(order).toEqual(['identify', 'rate', 'permit']);
    expect((await create(undefined, { nonsense: 1 })).statusCode).toBe(401);
    expect((await create('reader', { nonsense: 1 })).statusCode).toBe(403);
  });

  test('refusals count against the limit', async () => {
    const statuses = [];
    for (let i = 0; i < 5; i += 1) statuses.push((await create('reader')).statusCode);
    expect(statuses).toEqual([403, 403, 403, 429, 429]);
  });

  test('a public route asks nothing', async () => {
    expect((await app.inject('/v1/declared')).json()).toEqual({ fine: true });
    expect(order).toEqual([]);
  });
});

describe('audit', () => {
  test('success carries what the handler noted', async () => {
    await create('writer');
    expect(lines).toEqual([
      {
        action: 'thing.created',
        target: 'thing_a',
        subject: null,
        organisations: [],
        outcome: 'success',
        status: 201,
        caller: 'writer',
      },
    ]);
  });

  test('refusals and failures are lines, whoever refuses: a gate, the schema, the handler, a bug', async () => {
    const remove = (id: string) =>
      app.inject({ method: 'DELETE', url: `/v1/declared/${id}`, headers: { 'x-caller': 'writer' } });
    await create('reader');
    await create('writer', { name: '' });
    await remove('t_1');
    await remove('broken');
    expect(lines.map(({ action, target, outcome, status }) => [action, target, outcome, status])).toEqual([
      ['thing.created', null, 'refused', 403],
      ['thing.created', null, 'refused', 422],
      ['thing.removed', null, 'refused', 404],
      ['thing.removed', 'broken', 'failure', 500],
    ]);
  });

  test('what the path names is the target, also of what was refused before the handler', async () => {
    const put = (caller: string, name: string) =>
      app.inject({
        ...{ method: 'PUT', url: '/v1/declared/fixed', payload: { name } },
        headers: { 'x-caller': caller },
      });
    await put('reader', 'a');
    await put('writer', '');
    await put('writer', 'a');
    expect(lines.map(({ target, status }) => [target, status])).toEqual([
      ['fixed', 403],
      ['fixed', 422],
      ['fixed', 200],
    ]);
  });

  test('whose log the line stands in is no target of it, and is one where the line stands elsewhere', async () => {
    const patch = (name: string) =>
      app.inject({
        ...{ method: 'PATCH', url: '/v1/declared/somebody', payload: { name } },
        headers: { 'x-caller': 'writer' },
      });
    await patch('');
    await patch('a');
    expect(lines.map(({ target, subject }) => [target, subject])).toEqual([
      ['somebody', null],
      [null, 'somebody'],
    ]);
  });

  test('what could not be read, and what is beyond the rate limit, writes nothing', async () => {
    const torn = await app.inject({
      method: 'POST',
      url: '/v1/declared',
      payload: '{"name":',
      headers: { 'x-caller': 'writer', 'content-type': 'application/json' },
    });
    expect(torn.statusCode).toBe(400);
    for (let i = 0; i < 4; i += 1) await create('writer');
    expect(lines.map(({ status }) => status)).toEqual([201, 201]);
  });
});

test('a keyed handler works in the transaction of its key, and may word its audit line', async () => {
  const put = (headers: Record<string, string>) =>
    app.inject({ method: 'PUT', url: '/v1/declared/t_1', body: { name: 'b' }, headers });
  expect((await put({ 'x-caller': 'x', 'idempotency-key': 'k' })).json()).toEqual({ name: 'b', tx: 1 });
  expect((await put({ 'x-caller': 'x' })).statusCode).toBe(202);
  expect(lines[0]).toMatchObject({ action: 'thing.renamed', target: 't_1', subject: 'somebody' });
});

test('fields for a route that reads no body are passed over, unless the service refuses them by name', async () => {
  const act = async (path: string, payload?: string) => {
    const headers = payload === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await app.inject({ method: 'POST', url: path, headers, ...(payload && { payload }) });
    return [answer.statusCode, answer.json().errors?.map(({ pointer }: { pointer: string }) => pointer)];
  };
  const decided = { access: 'public', rate: 'none', audit: 'none', idempotency: 'repeats' } as const;
  routes.post('/v1/lenient', decided, async () => ({ fine: true }));
  const strict = createRoutes(app, { ...rules(), refusesUnreadFields: true });
  let asked = 0;
  const preHandler = async () => {
    asked += 1;
  };
  strict.post('/v1/strict', { ...decided, preHandler }, async () => ({ fine: true }));
  expect(await act('/v1/lenient', '{"a":1}')).toEqual([200, undefined]);
  expect(await act('/v1/strict', '{"a":1,"b/c":2}')).toEqual([422, ['/a', '/b~1c']]);
  expect(asked).toBe(0);
  for (const empty of [undefined, '', '{}']) expect(await act('/v1/strict', empty)).toEqual([200, undefined]);
  expect(asked).toBe(3);
});

test('parameters for a route that reads no query are passed over, unless the service refuses them by name', async () => {
  const decided = { access: 'public', rate: 'none', audit: 'none', idempotency: 'safe' } as const;
  const strict = createRoutes(app, { ...rules(), refusesUnreadFields: true });
  routes.get('/v1/lenient', decided, async () => ({ fine: true }));
  strict.get('/v1/strict', decided, async () => ({ fine: true }));
  strict.post(
    '/v1/strict',
    { ...decided, idempotency: 'repeats', schema: { body: Type.Object({}) } },
    async () => ({ fine: true }),
  );
  const read = { querystring: Type.Object({ a: Type.Optional(Type.String()) }) };
  strict.get('/v1/strict/read', { ...decided, schema: read }, async () => ({ fine: true }));
  const named = async (method: 'GET' | 'POST', url: string) => {
    const answer = await app.inject({ method, url });
    return [answer.statusCode, answer.json().errors?.map(({ parameter }: FieldError) => parameter)];
  };
  expect(await named('GET', '/v1/lenient?a=1')).toEqual([200, undefined]);
  expect(await named('GET', '/v1/strict/read?a=1')).toEqual([200, undefined]);
  expect(await named('GET', '/v1/strict?a=1&b%5Bc%5D=2')).toEqual([400, ['a', 'b[c]']]);
  expect(await named('POST', '/v1/strict?amount=500')).toEqual([400, ['amount']]);
  for (const address of ['/v1/strict', '/v1/strict?'])
    expect(await named('POST', address)).toEqual([200, undefined]);
});

test('the reference knows who may call and that the key is honoured', async () => {
  const { paths } = (await app.inject('/openapi.json')).json();
  expect(paths['/v1/declared'].post.security).toEqual([{ bearer: ['writer'] }]);
  expect(paths['/v1/declared'].get.security).toEqual([]);
  const { put } = paths['/v1/declared/{id}'];
  expect(put.operationId).toBe('putThing');
  const key = { $ref: '#/components/parameters/Key' };
  expect(put.parameters).toContainEqual(key);
  expect(paths['/v1/declared'].post.parameters).toBeUndefined();
  const statuses = Object.keys(paths['/v1/declared'].post.responses);
  expect(statuses).toEqual(['201', '400', '401', '413', '415', '422', '429', '500', '503', 'default']);
});

test('no decision can be left out', async () => {
  const full = { access: 'public', rate: 'none', audit: 'none', idempotency: 'safe' } as const;
  const handler = async () => ({});
  routes.get('/full', full, handler);
  const { access: _access, ...noAccess } = full;
  const { rate: _rate, ...noRate } = full;
  const { audit: _audit, ...noAudit } = full;
  const { idempotency: _idempotency, ...noIdempotency } = full;
  // @ts-expect-error who may call
  expect(() => routes.get('/1', noAccess, handler)).not.toThrow();
  // @ts-expect-error how often
  expect(() => routes.get('/2', noRate, handler)).not.toThrow();
  // @ts-expect-error what is audited
  expect(() => routes.get('/3', noAudit, handler)).toThrow();
  // @ts-expect-error what a repeat does
  expect(() => routes.get('/4', noIdempotency, handler)).not.toThrow();
  // @ts-expect-error a hook of its own could undo the decisions
  routes.get('/5', { ...full, onRequest: async () => {} }, handler);
});

test('an app of declared routes does not start with another one', async () => {
  const strict = await createTestApp({ declaredRoutesOnly: false });
  strict.get('/undeclared', async () => ({}));
  await strict.close();
  const { createApp } = await import('./index.ts');
  const own = await createApp({
    name: 'strict',
    version: '1',
    publicUrl: 'http://localhost',
    logLevel: 'silent',
    defaultMetrics: false,
    declaredRoutesOnly: true,
  });
  expect(() => own.get('/undeclared', async () => ({}))).toThrow(/GET \/undeclared states no access/);
  own.get('/*', { config: { catchAll: true } }, async () => ({}));
  createRoutes(own, rules()).get(
    '/declared',
    { access: 'public', rate: 'none', audit: 'none', idempotency: 'safe' },
    async () => ({}),
  );
  expect((await own.inject('/healthz')).statusCode).toBe(200);
  await own.close();
});
