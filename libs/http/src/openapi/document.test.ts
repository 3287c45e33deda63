import { baseErrors, defineErrors } from '@libs/runtime';
import Type from 'typebox';
import { expect, test } from 'vitest';
import { createDocument } from './document.ts';
import type { DescribedRoute } from './operation.ts';

const Thing = Type.Object(
  {
    id: Type.String({ examples: ['t_1'] }),
    size: Type.Union([Type.Literal('small'), Type.Literal('large')]),
    weight: Type.Union([Type.Integer(), Type.Null()], { examples: [3] }),
  },
  { title: 'Thing' },
);

function documentOf(...schemas: DescribedRoute['schema'][]) {
  const routes = schemas.map((schema, index) => ({
    ...{ method: 'POST', url: `/things/${index}`, schema, isRateLimited: false, isKeyed: false },
    ...{ codes: [], parameters: [] },
  }));
  const about = { name: 'things', version: '1', publicUrl: 'http://x', typeBase: 'http://x/errors' };
  return createDocument(routes, { ...about, errors: baseErrors });
}

test('a noun is one component, wherever it is used', () => {
  const list = Type.Object({ data: Type.Array(Thing), last: Type.Union([Thing, Type.Null()]) });
  const { paths, components } = documentOf({ response: { 200: Thing } }, { response: { 200: list } });
  const answer = (path: string) => {
    const found = paths[path]?.post?.responses['200'];
    return found !== undefined && 'content' in found ? found.content?.['application/json'] : undefined;
  };
  const reference = { $ref: '#/components/schemas/Thing' };
  expect(answer('/things/0')?.schema).toEqual(reference);
  expect(answer('/things/1')?.schema.properties).toEqual({
    data: { type: 'array', items: reference },
    last: { anyOf: [reference, { type: 'null' }] },
  });
  expect(components.schemas.Thing).toMatchObject({
    properties: { size: { type: 'string', enum: ['small', 'large'] }, weight: { type: ['integer', 'null'] } },
  });
  const thing = { id: 't_1', size: 'small', weight: 3 };
  expect(answer('/things/1')?.example).toEqual({ data: [thing], last: thing });
});

test('two different schemas of one name stop the document', () => {
  const other = Type.Object({ id: Type.String() }, { title: 'Thing' });
  expect(() => documentOf({ response: { 200: Thing } }, { response: { 200: other } })).toThrow(/Thing/);
});

test('what has a default may be left out of a request, and is always in an answer', () => {
  const body = Type.Object({ count: Type.Integer({ default: 1 }), name: Type.String() });
  const { paths } = documentOf({ body, querystring: body, response: { 200: body } });
  const { requestBody, parameters, responses } = paths['/things/0']?.post ?? { responses: {} };
  expect(requestBody?.content['application/json']?.schema.required).toEqual(['name']);
  expect(parameters).toMatchObject([
    { name: 'count', required: false },
    { name: 'name', required: true },
  ]);
  expect(responses['200']).toMatchObject({
    content: { 'application/json': { schema: { required: ['count', 'name'] } } },
  });
});

test('a code that nobody has defined stops the document', () => {
  const route = { method: 'GET', url: '/', schema: {}, isRateLimited: false, isKeyed: false, parameters: [] };
  const about = { name: 'things', version: '1', publicUrl: 'http://x', typeBase: 'http://x/errors' };
  const options = { ...about, errors: baseErrors };
  expect(() => createDocument([{ ...route, codes: ['no_such_code'] }], options)).toThrow(/no_such_code/);
});

test('a conflict that ends by itself says when to come again, as what is full does, and one that stays does not', () => {
  const errors = defineErrors({
    in_work: { kind: 'conflict', title: 'In work', retryable: true },
    taken: { kind: 'conflict', title: 'Taken' },
  });
  const route = { method: 'GET', url: '/', schema: {}, isRateLimited: false, isKeyed: false, parameters: [] };
  const about = { name: 'things', version: '1', publicUrl: 'http://x', typeBase: 'http://x/errors' };
  const headersOf = (code: string) => {
    const { components } = createDocument([{ ...route, codes: [code] }], { ...about, errors }) as unknown as {
      components: { responses: Record<string, { headers: object }> };
    };
    return Object.keys(components.responses[code === 'taken' ? 'Taken' : 'InWork']?.headers ?? {});
  };
  expect([headersOf('in_work'), headersOf('taken')]).toEqual([
    ['X-Request-Id', 'Retry-After'],
    ['X-Request-Id'],
  ]);
});
