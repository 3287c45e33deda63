import type { AppError } from '@libs/runtime';
import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { createTestApp } from '../test/test-app.ts';
import { cursorCodec, listPage, listQuery, listSchema, objectListPage, objectListSchema } from './index.ts';

const Position = Type.Object(
  { id: Type.String({ pattern: '^thing_' }), at: Type.Integer() },
  { additionalProperties: false },
);
const cursors = cursorCodec(Position);

describe('cursors', () => {
  test('come back as they went', () => {
    const text = cursors.encode({ id: 'thing_ä', at: 5 });
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(cursors.decode(text)).toEqual({ id: 'thing_ä', at: 5 });
    expect(cursors.decode(undefined)).toBeUndefined();
  });

  test.each([
    '',
    'x',
    '!!!',
    Buffer.from('{').toString('base64url'),
    Buffer.from('{"id":"other_1","at":1}').toString('base64url'),
    Buffer.from('{"id":"thing_1"}').toString('base64url'),
    Buffer.from('{"id":"thing_1","at":1,"more":1}').toString('base64url'),
    Buffer.from('null').toString('base64url'),
    'A'.repeat(5_000),
  ])('what we did not make is 400 and named: %s', (text) => {
    try {
      cursors.decode(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ kind: 'malformed', code: 'invalid_query' });
      expect((error as AppError).details).toMatchObject([{ parameter: 'cursor', code: 'invalid_cursor' }]);
    }
  });
});

describe('pages', () => {
  const cursor = cursorCodec(Type.Tuple([Type.Integer()]));
  const upTo =
    (last: number) =>
    async ({ from, limit }: { from: [number] | undefined; limit: number }) => {
      const start = (from?.[0] ?? 0) + 1;
      return Array.from({ length: limit }, (_, index) => start + index).filter((n) => n <= last);
    };
  const pageOf = (last: number, query: { limit: number; cursor?: string }) =>
    listPage(query, { cursor, read: upTo(last), positionOf: (n) => [n], show: (n) => `n${n}` });

  test('the extra row only tells that there is more', async () => {
    const first = await pageOf(3, { limit: 2 });
    expect(first).toEqual({ data: ['n1', 'n2'], next_cursor: cursor.encode([2]) });
    const second = await pageOf(3, { limit: 2, cursor: first.next_cursor ?? '' });
    expect(second).toEqual({ data: ['n3'], next_cursor: null });
    expect(await pageOf(2, { limit: 2 })).toEqual({ data: ['n1', 'n2'], next_cursor: null });
    expect(await pageOf(0, { limit: 2 })).toEqual({ data: [], next_cursor: null });
  });

  test('through a route', async () => {
    const app = await createTestApp();
    const schema = {
      querystring: listQuery({ status: Type.Optional(Type.String()) }),
      response: { 200: objectListSchema(Type.Object({ n: Type.Integer() })) },
    };
    app.get('/numbers', { schema }, ({ query }) => {
      expect(query.status).toBeUndefined();
      return objectListPage(query, { cursor, read: upTo(25), positionOf: (n) => [n], show: (n) => ({ n }) });
    });
    const first = (await app.inject('/numbers')).json();
    expect(first).toMatchObject({ object: 'list', data: expect.objectContaining({ length: 20 }) });
    const second = (await app.inject(`/numbers?cursor=${first.next_cursor}`)).json();
    expect(second.data.map((row: { n: number }) => row.n)).toEqual([21, 22, 23, 24, 25]);
    expect(second.next_cursor).toBeNull();
    for (const limit of ['0', '101', 'x']) {
      expect((await app.inject(`/numbers?limit=${limit}`)).json()).toMatchObject({
        errors: [{ parameter: 'limit' }],
      });
    }
    expect((await app.inject('/numbers?cursor=zzz')).json()).toMatchObject({
      code: 'invalid_query',
      status: 400,
      errors: [{ parameter: 'cursor', code: 'invalid_cursor' }],
    });
    const { errors } = (await app.inject('/numbers?cursor=zzz&limit=0&bogus=1')).json();
    expect(errors.map(({ parameter }: { parameter: string }) => parameter).toSorted()).toEqual([
      ...['bogus', 'cursor', 'limit'],
    ]);
    await app.close();
  });

  test('both forms of lists', () => {
    expect(Object.keys(listSchema(Type.String()).properties)).toEqual(['data', 'next_cursor']);
    expect(Object.keys(objectListSchema(Type.String()).properties)).toEqual([
      'object',
      'data',
      'next_cursor',
    ]);
  });
});
