// Who is answered at all: the names of the service, and who may read its numbers.
import { afterEach, describe, expect, test } from 'vitest';
import { createTestApp } from '../../test/test-app.ts';
import type { App } from '../index.ts';

let app: App;
afterEach(() => app.close());

const under = (host: string, url = '/v1/things') => app.inject({ url, headers: { host } });

describe('hosts', () => {
  test('a public name answers under that name alone, in any case of letters', async () => {
    app = await createTestApp({ checkHosts: true, publicUrl: 'https://hub.example' });
    expect((await under('hub.example')).statusCode).toBe(200);
    expect((await under('HUB.example')).statusCode).toBe(200);
    for (const host of ['evil.example', 'hub.example:8443', 'hub.example.evil.example', 'localhost', '']) {
      const answer = await under(host);
      expect([host, answer.statusCode, answer.json().code]).toEqual([host, 403, 'host_not_accepted']);
    }
    expect((await under('evil.example', '/nowhere')).statusCode).toBe(403);
  });

  test('a loopback address answers under all names of this machine, on its port', async () => {
    app = await createTestApp({ checkHosts: true, publicUrl: 'http://localhost:4999' });
    for (const host of ['localhost:4999', '127.0.0.1:4999', '[::1]:4999']) {
      expect((await under(host)).statusCode).toBe(200);
    }
    for (const host of [
      'localhost',
      'localhost:4998',
      'rebound.example:4999',
      '127.0.0.1.evil.example:4999',
    ]) {
      expect((await under(host)).statusCode).toBe(403);
    }
  });

  test('health and metrics are asked for by address', async () => {
    app = await createTestApp({ checkHosts: true, publicUrl: 'https://hub.example' });
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await under('10.0.0.7:4100', path)).statusCode).toBe(200);
    }
  });

  test('where nobody asks for it, every host is answered', async () => {
    app = await createTestApp({ publicUrl: 'https://hub.example' });
    expect((await under('evil.example')).statusCode).toBe(200);
  });
});

describe('/metrics', () => {
  const read = (authorization?: string) =>
    app.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } });

  test('needs the token where one is set', async () => {
    app = await createTestApp({ metricsAccess: { token: 'a-token-for-metrics' } });
    expect((await read()).statusCode).toBe(401);
    expect((await read('Bearer a-token-for-metric')).statusCode).toBe(401);
    expect((await read('Basic a-token-for-metrics')).statusCode).toBe(401);
    expect((await read('bearer a-token-for-metrics')).statusCode).toBe(200);
  });

  test('is not there where it is closed', async () => {
    app = await createTestApp({ metricsAccess: 'closed' });
    expect((await read('Bearer anything')).statusCode).toBe(404);
  });
});

test("text that the database cannot hold is the caller's mistake, by whatever way it came", async () => {
  app = await createTestApp();
  app.get('/v1/unchecked', async () => {
    throw Object.assign(new Error('invalid byte sequence for encoding "UTF8": 0x00'), { code: '22021' });
  });
  const answer = await app.inject('/v1/unchecked');
  expect([answer.statusCode, answer.json().code]).toEqual([400, 'bad_request']);
});
