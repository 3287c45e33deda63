import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, sendRaw, startTestApp } from '../test/test-app.ts';
import { type App, DASHBOARD_CSP, serveFolder } from './index.ts';

const script = `console.log('hello');\n`.repeat(200);
const page = '<!doctype html><title>Pages</title>';
let root: string;
let app: App;
let port: number;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'serve-folder-'));
  const folder = join(root, 'dist');
  await mkdir(join(folder, 'assets'), { recursive: true });
  await writeFile(join(folder, 'index.html'), page);
  await writeFile(join(folder, 'assets', 'index-BcD3f_9x.js'), script);
  await writeFile(join(folder, 'assets', 'some-dashboard.js'), script);
  await writeFile(join(folder, 'favicon.svg'), '<svg/>');
  await writeFile(join(root, 'secret.txt'), 'secret');
  await symlink(join(root, 'secret.txt'), join(folder, 'link.txt'));
  app = await createTestApp();
  await serveFolder(app, { prefix: '/dashboard', folder, spaFallback: 'index.html' });
  await serveFolder(app, {
    prefix: '/',
    folder,
    spaFallback: 'index.html',
    except: ['/v1', '/api'],
    csp: "default-src 'self'",
  });
  ({ port } = await startTestApp(app));
});
afterAll(async () => {
  await app.close();
  await rm(root, { recursive: true });
});

const html = { accept: 'text/html,*/*' };

describe('serveFolder', () => {
  test('serves files with type, tag and policy', async () => {
    const answer = await app.inject('/dashboard/assets/index-BcD3f_9x.js');
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toBe(script);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': DASHBOARD_CSP,
      'x-content-type-options': 'nosniff',
    });
    const again = await app.inject({
      url: '/dashboard/assets/index-BcD3f_9x.js',
      headers: { 'if-none-match': `"other", ${answer.headers.etag}` },
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  test('only names with a hash are kept for ever', async () => {
    for (const path of ['/', '/favicon.svg', '/assets/some-dashboard.js']) {
      expect((await app.inject(path)).headers['cache-control']).toBe('no-cache');
    }
  });

  test('compresses what is worth it, as the caller likes', async () => {
    const url = '/assets/index-BcD3f_9x.js';
    const br = await app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } });
    expect(br.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' });
    expect(brotliDecompressSync(br.rawPayload).toString()).toBe(script);
    const gzip = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br;q=0' } });
    expect(gunzipSync(gzip.rawPayload).toString()).toBe(script);
    const small = await app.inject({ url: '/favicon.svg', headers: { 'accept-encoding': 'gzip' } });
    expect(small.headers['content-encoding']).toBeUndefined();
  });

  test('pages of the browser fall back to the one page; nothing else does', async () => {
    for (const url of ['/', '/dashboard', '/dashboard/', '/dashboard/payments/pay_1', '/settings?a=b']) {
      const answer = await app.inject({ url, headers: html });
      expect([url, answer.statusCode, answer.body]).toEqual([url, 200, page]);
    }
    const missing = [
      '/v1/nothing',
      '/api',
      '/api/nothing',
      '/assets/gone-12345678.js',
      '/dashboard/gone.css',
    ];
    for (const url of missing) expect((await app.inject({ url, headers: html })).statusCode).toBe(404);
    const program = await app.inject({ url: '/settings', headers: { accept: 'application/json' } });
    expect(program.json()).toMatchObject({ code: 'not_found', status: 404 });
  });

  test('does not turn other methods on unknown paths into 405', async () => {
    expect((await app.inject({ method: 'POST', url: '/nothing' })).statusCode).toBe(404);
    expect((await app.inject({ method: 'PUT', url: '/v1/things' })).statusCode).toBe(405);
  });

  test('HEAD has the headers and no body', async () => {
    const answer = await app.inject({ method: 'HEAD', url: '/favicon.svg' });
    expect([answer.statusCode, answer.headers['content-length'], answer.body]).toEqual([200, '6', '']);
  });

  test.each([
    '/../secret.txt',
    '/dashboard/../../secret.txt',
    '/dashboard/..%2f..%2fsecret.txt',
    '/dashboard/%2e%2e/%2e%2e/secret.txt',
    '/dashboard/..\\..\\secret.txt',
    '/dashboard//etc/passwd',
    '/dashboard/assets/%2e%2e/%2e%2e/secret.txt',
    '/link.txt',
    '/dashboard/__proto__',
    '/dashboard/index.html%00.js',
  ])('nothing outside is reachable: %s', async (path) => {
    const raw = await sendRaw(port, `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(raw).toMatch(/^HTTP\/1.1 4\d\d /);
    expect(raw).not.toMatch(/\r\n\r\nsecret/);
  });

  test('a folder that is not built yet is 404 until it is', async () => {
    const late = await createTestApp();
    const folder = join(root, 'late');
    await serveFolder(late, { prefix: '/late', folder, spaFallback: 'index.html' });
    expect((await late.inject({ url: '/late', headers: html })).statusCode).toBe(404);
    await mkdir(folder);
    await writeFile(join(folder, 'index.html'), 'now');
    expect((await late.inject({ url: '/late', headers: html })).body).toBe('now');
    await late.close();
  });
});
