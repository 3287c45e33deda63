import { describe, expect, test } from 'vitest';
import { sameOrigin } from './edge/same-origin.ts';
import {
  acceptedHosts,
  acceptedOrigins,
  expireCookie,
  parseCookies,
  requireSameOrigin,
  serializeCookie,
} from './index.ts';

describe('cookies', () => {
  test('are read', () => {
    expect([...parseCookies('a=1; b="two"; a=3; bad name=x; novalue; c=x=y; __proto__=z')]).toEqual([
      ['a', '1'],
      ['b', 'two'],
      ['c', 'x=y'],
      ['__proto__', 'z'],
    ]);
    expect(parseCookies(undefined).size).toBe(0);
    expect(parseCookies(Array.from({ length: 500 }, (_, i) => `c${i}=1`).join(';')).size).toBe(100);
  });

  test('are written closed by default', () => {
    expect(serializeCookie('session', 'abc', { secure: true, maxAgeSeconds: 60 })).toBe(
      'session=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure',
    );
    expect(
      serializeCookie('s', 'v', { secure: false, httpOnly: false, sameSite: 'Strict', path: '/x' }),
    ).toBe('s=v; Path=/x; SameSite=Strict');
    expect(expireCookie('session', { secure: true })).toContain('session=; Path=/; Max-Age=0');
  });

  test('cannot smuggle attributes or lines', () => {
    for (const value of ['a;b', 'a b', 'a\r\nset-cookie: x', 'ä', '"']) {
      expect(() => serializeCookie('s', value, { secure: false })).toThrow(TypeError);
    }
    for (const name of ['', 'a b', 'a=b', 'a;']) {
      expect(() => serializeCookie(name, 'v', { secure: false })).toThrow(TypeError);
    }
  });
});

describe('same origin', () => {
  const origins = acceptedOrigins('http://localhost:4100');
  const json = { 'content-type': 'application/json', 'content-length': '2' };

  test.each<[string, string, Record<string, string>, boolean]>([
    ['reading is free', 'GET', { origin: 'https://evil.example' }, true],
    ['JSON without a word of origin', 'POST', json, true],
    [
      'JSON from here',
      'POST',
      { ...json, origin: 'http://localhost:4100', 'sec-fetch-site': 'same-origin' },
      true,
    ],
    ['another name of this machine', 'POST', { ...json, origin: 'http://127.0.0.1:4100' }, true],
    ['typed address', 'POST', { ...json, 'sec-fetch-site': 'none' }, true],
    ['a charset', 'POST', { ...json, 'content-type': 'Application/json; charset=utf-8' }, true],
    ['another origin', 'POST', { ...json, origin: 'https://evil.example' }, false],
    ['another port', 'POST', { ...json, origin: 'http://localhost:4101' }, false],
    ['another scheme', 'POST', { ...json, origin: 'https://localhost:4100' }, false],
    ['a hidden origin', 'POST', { ...json, origin: 'null' }, false],
    ['another site', 'POST', { ...json, 'sec-fetch-site': 'cross-site' }, false],
    ['a sibling site', 'DELETE', { ...json, 'sec-fetch-site': 'same-site' }, false],
    ['a form', 'POST', { 'content-type': 'application/x-www-form-urlencoded' }, false],
    ['plain text', 'POST', { 'content-type': 'text/plain', 'content-length': '2' }, false],
    ['JSON-like', 'POST', { 'content-type': 'application/jsonp' }, false],
    ['a body without a type', 'POST', { 'content-length': '2' }, false],
    ['a stream without a type', 'PUT', { 'transfer-encoding': 'chunked' }, false],
    ['no body, no type, from here', 'DELETE', { origin: 'http://localhost:4100' }, true],
    ['no body, no type, from elsewhere', 'DELETE', { origin: 'https://evil.example' }, false],
  ])('%s', (_name, method, headers, expected) => {
    expect(sameOrigin({ method, headers }, origins)).toBe(expected);
    if (!expected) expect(() => requireSameOrigin({ method, headers }, origins)).toThrow(/session cookie/);
  });

  test('names of this machine count only while the public address is one', () => {
    expect([...acceptedOrigins('https://hub.example.com/')]).toEqual(['https://hub.example.com']);
    expect([...acceptedHosts('http://localhost:4100')]).toEqual([
      'localhost:4100',
      '127.0.0.1:4100',
      '[::1]:4100',
    ]);
    expect([...acceptedHosts('http://[::1]')]).toContain('localhost');
  });
});
