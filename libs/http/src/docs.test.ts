import { createHash } from 'node:crypto';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, testErrors } from '../test/test-app.ts';
import type { App } from './index.ts';

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
    expect(operation.responses.default).toEqual({ $ref: '#/components/responses/Problem' });
    for (const hidden of ['/healthz', '/metrics', '/docs/', '/openapi.json'])
      expect(document.paths[hidden]).toBeUndefined();
  });

  test('lists the codes of the registry', async () => {
    const { components } = (await app.inject('/openapi.json')).json();
    expect(components.schemas.Problem.properties.code.enum).toEqual(testErrors.codes);
  });
});

describe('/docs', () => {
  test('is a page whose scripts come from here and are pinned by the policy', async () => {
    const redirect = await app.inject('/docs');
    expect([redirect.statusCode, redirect.headers.location]).toEqual([302, '/docs/']);
    const answer = await app.inject('/docs/');
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain('Things &lt;API&gt;');
    const addresses = [...answer.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address);
    expect(addresses).toEqual(['js/scalar.js']);
    expect(answer.body).not.toMatch(/https?:\/\//);
    const policy = String(answer.headers['content-security-policy']);
    const [, inline = ''] = /<script type="text\/javascript">([\s\S]*?)<\/script>/.exec(answer.body) ?? [];
    expect(inline).toContain('/openapi.json');
    expect(policy).toContain(`'sha256-${createHash('sha256').update(inline).digest('base64')}'`);
    expect(policy).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe-inline/);
  });

  test('its script is served and cached', async () => {
    const answer = await app.inject('/docs/js/scalar.js');
    expect(answer.headers['content-type']).toMatch(/javascript/);
    expect(answer.rawPayload.length).toBeGreaterThan(1_000_000);
    const again = await app.inject({
      url: '/docs/js/scalar.js',
      headers: { 'if-none-match': String(answer.headers.etag) },
    });
    expect(again.statusCode).toBe(304);
  });

  test('every code has its place on the page of errors, where the type of a problem points', async () => {
    const { type } = (await app.inject('/v1/things/x')).json();
    expect(type).toBe('http://localhost:4999/docs/errors#thing_not_found');
    const answer = await app.inject('/docs/errors');
    expect(answer.headers['content-type']).toMatch(/text\/html/);
    for (const code of testErrors.codes) expect(answer.body).toContain(`<tr id="${code}">`);
    expect(answer.body).toContain('Ask for another thing.');
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(answer.body) ?? [];
    expect(answer.headers['content-security-policy']).toContain(
      createHash('sha256').update(style).digest('base64'),
    );
  });

  test('can be left out', async () => {
    const bare = await createTestApp({ docsPath: false });
    expect((await bare.inject('/docs/')).statusCode).toBe(404);
    expect((await bare.inject('/openapi.json')).statusCode).toBe(404);
    await bare.close();
  });
});
