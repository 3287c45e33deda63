import { createHash } from 'node:crypto';
import { type App, createApp } from '@libs/http';
import { defineErrors } from '@libs/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerGuides } from './routes.ts';
import type { DocsSite } from './site.ts';
import { errorsMarkdown, markdownTable } from './tables.ts';

const errors = defineErrors({
  thing_not_found: { kind: 'not_found', title: 'Thing not found', detail: 'No thing has this id.' },
  thing_busy: { kind: 'unavailable', title: 'Thing busy', help: 'Ask for another thing.' },
});
const site: DocsSite = {
  product: 'Things <API>',
  folder: new URL('../test/guides/', import.meta.url),
  groups: [
    { title: 'Use', pages: ['parts'] },
    { title: 'Trouble', pages: ['errors'] },
  ],
  includes: {
    count: '3',
    table: markdownTable(['Name', 'Use'], [['`a|b`', 'none']]),
    errors: errorsMarkdown(errors),
  },
  publicUrl: 'https://things.example',
  writtenUrl: 'http://localhost:4999',
  links: [{ label: 'Dashboard', href: '/dashboard' }],
  tokens: { bearer: 'THINGS_TOKEN' },
  samples: new Map([['things.list', [{ lang: 'sh', label: 'curl', source: 'curl /v1/things' }]]]),
};
let app: App;

beforeAll(async () => {
  app = await createApp({
    ...{ name: 'things', version: '1', publicUrl: site.publicUrl, errors, logLevel: 'silent' },
    ...{ defaultMetrics: false, docs: (pages) => registerGuides(pages, site) },
  });
  app.get('/v1/things', { schema: { operationId: 'things.list' } }, async () => []);
  app.put('/v1/things/:id', { schema: { security: [{ bearer: [] }] } }, async () => ({}));
});
afterAll(() => app.close());

const linksOf = (html: string) => [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, to]) => to as string);

describe('a guide', () => {
  test('has one title, its parts as anchors, and what the code says', async () => {
    const { body, statusCode, headers } = await app.inject('/docs/parts');
    expect([statusCode, body.match(/<h1>/g)?.length]).toEqual([200, 1]);
    expect(body).toContain('<title>Parts &amp; pieces · Things &lt;API&gt; docs</title>');
    expect(body).toContain('<h2 id="second">');
    expect(body).toContain('there are 3 of them');
    expect(body).toContain('<code>a|b</code>');
    expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:/);
  });

  test('shows ways as tabs, with the address of this server', async () => {
    const { body } = await app.inject('/docs/parts');
    expect([...body.matchAll(/data-way="(\w+)"/g)].map(([, way]) => way)).toEqual(['curl', 'Node']);
    expect(body).toContain('https://things.example/v1/things');
    expect(body).not.toContain('localhost:4999');
  });

  test('never becomes markup by what is written in it', async () => {
    const { body } = await app.inject('/docs/parts');
    expect(body).not.toContain('<script>');
    expect(body).toContain('&lt;script&gt;');
  });

  test('knows its neighbours, and links lead to pages', async () => {
    const parts = (await app.inject('/docs/parts')).body;
    expect(parts).toContain('<a rel="prev" href="/docs">');
    expect(parts).toContain('<a rel="next" href="/docs/errors">');
    expect(linksOf((await app.inject('/docs')).body)).toContain('/docs/parts#second');
  });

  test('includes nothing that the code does not give', async () => {
    const { count: _count, ...includes } = site.includes;
    const bare = await createApp({
      ...{ name: 'bare', version: '1', publicUrl: site.publicUrl, logLevel: 'silent', defaultMetrics: false },
      docs: (pages) => registerGuides(pages, { ...site, includes }),
    });
    expect((await bare.inject('/docs/parts')).statusCode).toBe(500);
    await bare.close();
  });
});

describe('the site', () => {
  test('every address that its pages name answers', async () => {
    for (const page of ['/docs', '/docs/parts', '/docs/errors', '/docs/nowhere', '/docs/search?q=parts']) {
      const inside = linksOf((await app.inject(page)).body).filter((to) => to.startsWith('/docs'));
      for (const to of new Set(inside)) expect([to, (await app.inject(to)).statusCode]).toEqual([to, 200]);
    }
  });

  test('a page that is not there is 404, with a search and every guide', async () => {
    for (const path of [
      '/docs/nowhere',
      '/docs/a/b',
      '/docs/index',
      '/docs/assets/../site.ts',
      '/docs/assets/x',
    ]) {
      const { statusCode, body, headers } = await app.inject(path);
      expect([path, statusCode, headers['content-type']]).toEqual([path, 404, 'text/html; charset=utf-8']);
      expect(body).toContain('<input type="search"');
      expect(linksOf(body)).toContain('/docs/parts');
    }
  });

  test('searches the same with and without a script', async () => {
    const { body } = await app.inject('/docs/search?q=gap');
    expect(linksOf(body)).toContain('/docs/parts#second');
    const index = (await app.inject('/docs/search.json')).json();
    expect(index).toContainEqual(expect.objectContaining({ url: '/docs/parts#second' }));
    const hostile = await app.inject('/docs/search?q=%3Cb%3E&q=2');
    expect(hostile.body).not.toContain('<b>2');
    expect((await app.inject('/docs/search?q=%22%3E%3Cscript%3E')).body).not.toContain('"><script>');
    expect((await app.inject('/docs/search?q=zzzz')).body).toContain('Nothing found');
  });

  test('assets are cached, and asked for anew when they change', async () => {
    const [style] = linksOf((await app.inject('/docs')).body).filter((to) => to.includes('docs.css'));
    const answer = await app.inject(style as string);
    expect(answer.headers['content-type']).toMatch(/text\/css/);
    const headers = { 'if-none-match': String(answer.headers.etag) };
    expect((await app.inject({ url: style as string, headers })).statusCode).toBe(304);
  });
});

test('every code has its place on the page of errors, where the type of a problem points', async () => {
  const { type } = (await app.inject('/v1/nowhere')).json();
  expect(type).toBe('https://things.example/docs/errors#not_found');
  const { body } = await app.inject('/docs/errors');
  for (const code of errors.codes) expect(body).toContain(`<h3 id="${code}">`);
  expect(body).toContain('Ask for another thing.');
  expect(body).toMatch(/id="thing_busy"[\s\S]*?Retryable: <strong>yes/);
  expect(body).toMatch(/id="thing_not_found"[\s\S]*?Retryable: <strong>no/);
});

describe('the reference', () => {
  test('is a page whose scripts come from here and are pinned by the policy', async () => {
    const answer = await app.inject('/docs/reference');
    expect(answer.statusCode).toBe(200);
    expect(linksOf(answer.body).filter((to) => /^(https?:)?\/\//.test(to))).toEqual([]);
    const policy = String(answer.headers['content-security-policy']);
    const [, inline = ''] = /<script type="text\/javascript">([\s\S]*?)<\/script>/.exec(answer.body) ?? [];
    expect(inline).toContain('/docs/reference.json');
    expect(policy).toContain(`'sha256-${createHash('sha256').update(inline).digest('base64')}'`);
    expect(policy).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe-inline/);
    expect(linksOf(answer.body)).toContain('/docs');
  });

  test('its script is served and cached', async () => {
    const answer = await app.inject('/docs/js/scalar.js');
    expect(answer.headers['content-type']).toMatch(/javascript/);
    expect(answer.rawPayload.length).toBeGreaterThan(1_000_000);
    const headers = { 'if-none-match': String(answer.headers.etag) };
    expect((await app.inject({ url: '/docs/js/scalar.js', headers })).statusCode).toBe(304);
  });

  test('has the code of its operations, which the document for machines leaves out', async () => {
    const { paths } = (await app.inject('/docs/reference.json')).json();
    expect(paths['/v1/things'].get['x-codeSamples'][0].source).toBe('curl /v1/things');
    expect(paths['/v1/things/{id}'].put['x-codeSamples'][0].source).toBe(
      'curl -sS -X PUT "https://things.example/v1/things/$ID" \\\n  -H "Authorization: Bearer $THINGS_TOKEN"',
    );
    expect((await app.inject('/openapi.json')).body).not.toContain('x-codeSamples');
  });
});
