// The pages of a dashboard over a real server: while they are built, when they are there, and how they are kept.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type App, createApp, registerPages } from '../index.ts';

let app: App;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pages-'));
  app = await createApp({
    ...{ name: 'pages', version: '1', publicUrl: 'http://localhost:4999', logLevel: 'silent' },
    ...{ defaultMetrics: false, docsPath: false, declaredRoutesOnly: true },
  });
  registerPages(app, { path: '/dashboard', folder: join(folder, 'dist'), title: 'The dashboard' });
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
const SCRIPT = 'console.log(1)'.repeat(100);

test('before the build there is a page that says so and asks again, and no script', async () => {
  const answer = await get('/dashboard/payments/pay_1');
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('2');
  expect(answer.body).toContain('http-equiv="refresh"');
  expect(answer.body).toContain('The dashboard is being built');
  expect((await get('/dashboard/assets/app-1.js')).statusCode).toBe(404);
});

test('once it is there it comes without a new start', async () => {
  await mkdir(join(folder, 'dist', 'assets'), { recursive: true });
  const asset = join(folder, 'dist', 'assets', 'app-1.js');
  await writeFile(asset, SCRIPT);
  await writeFile(`${asset}.br`, brotliCompressSync(SCRIPT));
  await writeFile(`${asset}.gz`, gzipSync(SCRIPT));
  await writeFile(join(folder, 'dist', 'icon.svg'), '<svg/>');
  await writeFile(join(folder, 'secret.json'), '{}');
  await writeFile(
    join(folder, 'dist', 'index.html'),
    '<meta property="csp-nonce" nonce="__NONCE__"><h1>Built</h1>',
  );
  for (const url of ['/dashboard', '/dashboard/', '/dashboard/payments/pay_1?status=failed']) {
    const answer = await get(url);
    expect([url, answer.statusCode]).toEqual([url, 200]);
    expect(answer.headers['cache-control']).toBe('no-cache');
    const nonce = /nonce="([^"]+)"/.exec(answer.body)?.[1] ?? '';
    const csp = String(answer.headers['content-security-policy']);
    expect(csp).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(csp).toContain("script-src 'self';");
    expect(csp).not.toContain('unsafe');
  }
  const [one, other] = await Promise.all([get('/dashboard'), get('/dashboard')]);
  expect(one.headers['content-security-policy']).not.toBe(other.headers['content-security-policy']);
});

test('assets are kept for good, and come compressed as the browser takes them', async () => {
  const url = '/dashboard/assets/app-1.js';
  const plain = await get(url, { 'accept-encoding': 'br;q=0, identity' });
  expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(plain.body).toBe(SCRIPT);
  const encodings: [string, string | undefined][] = [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['deflate', undefined],
  ];
  for (const [accepted, encoding] of encodings) {
    const answer = await get(url, { 'accept-encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.headers.vary).toBe('accept-encoding');
  }
  const again = await get(url, { 'if-none-match': String(plain.headers.etag) });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('files that are no assets are asked for each time; nothing outside the folder is served', async () => {
  expect((await get('/dashboard/icon.svg')).headers['cache-control']).toBe('no-cache');
  for (const url of [
    '/dashboard/../secret.json',
    '/dashboard/%2e%2e/secret.json',
    '/dashboard/..%2fsecret.json',
    '/dashboard/assets/app-1.js.br',
    '/dashboard/assets/..%2f..%2fsecret.json',
    '/dashboard/assets/gone-2.js',
  ]) {
    const answer = await get(url);
    expect(answer.body).not.toBe('{}');
    expect(answer.headers['content-type']).not.toContain('javascript');
  }
  expect((await get('/dashboard/assets/gone-2.js')).statusCode).toBe(404);
  expect((await get('/dashboards')).statusCode).toBe(404);
  expect((await app.inject({ method: 'POST', url: '/dashboard/payments' })).statusCode).toBe(404);
});

test('a new build is seen, and what is no more is gone', async () => {
  await rm(join(folder, 'dist'), { recursive: true });
  expect((await get('/dashboard')).statusCode).toBe(503);
  expect((await get('/dashboard/assets/app-1.js')).statusCode).toBe(404);
});

test('who follows an address that is not there in a browser sees a page with a way on; programs get a problem', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const seen = await get('/nothing/here', { accept });
  expect(seen.statusCode).toBe(404);
  expect(seen.headers['content-type']).toBe('text/html; charset=utf-8');
  const [, nonce] = /'nonce-([^']+)'/.exec(String(seen.headers['content-security-policy'])) ?? [];
  expect(seen.body).toContain(`<style nonce="${nonce}">`);
  expect(seen.body).toContain('<h1>There is no page here</h1>');
  expect(seen.body).toContain('<a href="/">');
  for (const asked of ['*/*', 'application/json', '']) {
    const told = await get('/nothing/here', asked === '' ? {} : { accept: asked });
    expect([told.statusCode, told.json().code]).toEqual([404, 'not_found']);
  }
  const posted = await app.inject({ method: 'POST', url: '/nothing/here', headers: { accept } });
  expect(posted.json().code).toBe('not_found');
});

test.each([
  ['/dashboard/%E0%A4%A', 400],
  ['/dashboard?next=%zz', 400],
  ['/dashboard/a%00b', 404],
])(
  'a person at %s, which no page can have, sees the same page, and a program its problem',
  async (url, status) => {
    const seen = await get(url, { accept: 'text/html' });
    expect([seen.statusCode, seen.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
    expect(seen.body).toContain('<h1>There is no page here</h1>');
    expect(seen.headers['x-request-id']).toBeTypeOf('string');
    const told = await get(url, { accept: 'application/json' });
    expect([told.statusCode, told.json().status]).toEqual([status, status]);
  },
);
