import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, testErrors } from '../../test/test-app.ts';
import type { App } from '../index.ts';

let app: App;

beforeAll(async () => {
  app = await createTestApp({
    openapi: {
      title: 'Things <API>',
      description: 'Moves things.',
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      security: [{ bearer: [] }],
    },
  });
  app.put(
    '/v1/documented/:id',
    {
      schema: {
        summary: 'Put a thing',
        tags: ['things'],
        params: Type.Object({ id: Type.String() }),
        body: Type.Object(
          { kind: Type.Union([Type.Literal('a'), Type.Null()]) },
          { additionalProperties: false },
        ),
        response: { 200: Type.Object({ id: Type.String() }) },
      },
    },
    async () => ({ id: 'x' }),
  );
});
afterAll(() => app.close());

describe('/openapi.json', () => {
  test('is OpenAPI 3.1, made from the routes', async () => {
    const answer = await app.inject('/openapi.json');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    const document = answer.json();
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Things <API>', version: '1.2.3' },
      servers: [{ url: 'http://localhost:4999' }],
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    });
    const operation = document.paths['/v1/documented/{id}'].put;
    expect(operation.summary).toBe('Put a thing');
    expect(operation.requestBody.content['application/json'].schema.properties.kind.anyOf).toEqual([
      { type: 'string', enum: ['a'] },
      { type: 'null' },
    ]);
    expect(Object.keys(operation.responses)).toEqual([
      '200',
      '400',
      '404',
      '413',
      '415',
      '422',
      '500',
      '503',
      'default',
    ]);
    expect(operation.responses.default).toEqual({ $ref: '#/components/responses/Problem' });
    for (const hidden of ['/healthz', '/metrics', '/docs/', '/openapi.json'])
      expect(document.paths[hidden]).toBeUndefined();
  });

  test('lists the codes of the registry', async () => {
    const { components } = (await app.inject('/openapi.json')).json();
    expect(components.schemas.Problem.properties.code.enum).toEqual(testErrors.codes);
  });
});
