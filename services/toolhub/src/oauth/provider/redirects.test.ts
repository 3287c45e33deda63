// Where browsers may be sent: the registered forms pass, and everything near them is refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isLoopback,
  isOwnRedirect,
  isRegisteredRedirect,
  redirectHost,
  registrationFault,
} from './redirects.ts';

const PUBLIC = 'https://hub.example.com';
const isOwn = (uri: string) => isOwnRedirect(uri, PUBLIC);
const NEAR_MISSES = 500;

describe('[TH-4] the forms of the own client pass', () => {
  test.each([
    `${PUBLIC}/oauth/mcp-callback`,
    'http://localhost',
    'http://localhost/',
    'http://localhost:3118/callback',
    'http://localhost:1/a/b/c%20d',
    'http://localhost:65535/callback',
    'http://127.0.0.1:8080',
    'http://[::1]:8080/callback',
    'http://[::1]/callback',
    'https://claude.ai/api/mcp/auth_callback',
    'https://claude.com/api/mcp/auth_callback',
    'https://chatgpt.com/aip/g-0123456789abcdef_X/oauth/callback',
    'https://chat.openai.com/aip/a/oauth/callback',
  ])('%s', (uri) => expect(isOwn(uri)).toBe(true));

  test('any identifier between the fixed parts', () => {
    const segment = fc.stringMatching(/^[A-Za-z0-9_-]{1,80}$/);
    fc.assert(
      fc.property(segment, fc.constantFrom('chatgpt.com', 'chat.openai.com'), (id, host) =>
        isOwn(`https://${host}/aip/${id}/oauth/callback`),
      ),
    );
  });

  test('any port and path on loopback', () => {
    const path = fc.stringMatching(/^(\/[A-Za-z0-9._~-]{0,10}){0,5}$/);
    const host = fc.constantFrom('localhost', '127.0.0.1', '[::1]');
    fc.assert(
      fc.property(host, fc.integer({ min: 1, max: 65_535 }), path, (name, port, rest) =>
        isOwn(`http://${name}:${port}${rest}`),
      ),
    );
  });
});

/** Ways to be almost right: each changes a good address into one that must not pass. */
const always: fc.Arbitrary<(uri: string) => string> = fc.oneof(
  fc.constantFrom<(uri: string) => string>(
    (uri) => uri.replace('://', '://user@'),
    (uri) => uri.replace('://', '://user:secret@'),
    (uri) => uri.replace('://', '://evil.example\\@'),
    (uri) => uri.replace('://', '://evil.example%2f@'),
    (uri) => `${uri}#`,
    (uri) => `${uri}#fragment`,
    (uri) => `${uri}?`,
    (uri) => `${uri}?next=https://evil.example`,
    (uri) => `${uri}\n`,
    (uri) => `${uri} `,
    (uri) => ` ${uri}`,
    (uri) => `\t${uri}`,
    (uri) => `${uri}\u0000`,
    (uri) => uri.replace('://', ':/'),
    (uri) => uri.replace('://', ':\\\\'),
    (uri) => uri.replace('://', ':///'),
    (uri) => uri.replace(/^[a-z]+/, (scheme) => scheme.toUpperCase()),
    (uri) => uri.replace(/^https?/, 'javascript'),
    (uri) => uri.replace(/^https?/, 'ftp'),
    (uri) => uri.replace(/(:\/\/(?:\[::1\]|[^/:]+))/, '$1.evil.example'),
    (uri) => uri.replace(/(:\/\/(?:\[::1\]|[^/:]+))/, '$1.'),
    (uri) => uri.replace(/(:\/\/(?:\[::1\]|[^/:]+))/, '$1%00'),
    (uri) => uri.replace('://', '://evil.example/'),
    (uri) => uri.replace('://', '://sub.'),
    (uri) => `https://evil.example/?to=${uri}`,
    (uri) => `${uri}\\..\\evil`,
  ),
  fc.stringMatching(/^[a-z]{1,12}$/).map((word) => (uri: string) => uri.replace('://', `://${word}.`)),
  fc.stringMatching(/^[a-z]{1,12}$/).map((word) => (uri: string) => uri.replace('://', `://${word}@`)),
  fc.stringMatching(/^[a-z]{1,12}$/).map((word) => (uri: string) => `${uri}#${word}`),
  fc.stringMatching(/^[a-z]{1,12}$/).map((word) => (uri: string) => `${uri}?${word}=1`),
);

/** For addresses that are fixed to the last character. */
const fixed: fc.Arbitrary<(uri: string) => string> = fc.oneof(
  always,
  fc.constantFrom<(uri: string) => string>(
    (uri) => uri.replace(/^https/, 'http'),
    (uri) => uri.replace(/^(https:\/\/[^/]+)/, '$1:443'),
    (uri) => uri.replace(/^(https:\/\/[^/]+)/, (origin) => origin.toUpperCase().replace('HTTPS', 'https')),
    (uri) => `${uri}/`,
    (uri) => `${uri}/..`,
    (uri) => `${uri}/extra`,
    (uri) => `${uri}%2f`,
    (uri) => `${uri};x=1`,
    (uri) => uri.replace(/\/([a-z_-]+)$/, '/./$1'),
    (uri) => uri.replace(/\/([a-z_-]+)$/, '/x/../$1'),
    (uri) => uri.replace(/\/([a-z_-]+)$/, '%2f$1'),
    (uri) => uri.replace(/\/([a-z_-]+)$/, '//$1'),
    (uri) => uri.replace(/\/([a-z_-]+)$/, (_whole, last: string) => `/${last.toUpperCase()}`),
    (uri) => uri.slice(0, -1),
  ),
  fc
    .integer({ min: 1, max: 65_535 })
    .map((port) => (uri: string) => uri.replace(/^(https:\/\/[^/]+)/, `$1:${port}`)),
  fc.stringMatching(/^[A-Za-z0-9._~-]{1,8}$/).map((tail) => (uri: string) => `${uri}${tail}`),
);

/** What is not one path segment of the allowed characters. */
const badSegment = fc.oneof(
  fc.constantFrom(
    '',
    '.',
    '..',
    'a/b',
    'a%2fb',
    'a%2Fb',
    '%2e%2e',
    '%2e',
    'a.b',
    'a b',
    'a+b',
    'ä',
    'a%20b',
    '*',
    'a;b',
  ),
  fc.constantFrom(
    'a:b',
    'a@b',
    '~a',
    'a\\b',
    'a?b',
    'a#b',
    "a'b",
    'a(b',
    'a,b',
    'a=b',
    'a&b',
    '/a',
    'a/',
    'a/../b',
  ),
  fc
    .tuple(
      fc.stringMatching(/^[a-z]{0,5}$/),
      fc.constantFrom('.', '%', '~', '!', '$', '/', '\\', '?', '#'),
      fc.stringMatching(/^[a-z]{0,5}$/),
    )
    .map((parts) => parts.join('')),
);

describe(`[TH-4] ${NEAR_MISSES} near-misses of each form are refused`, () => {
  const refused = (arbitrary: fc.Arbitrary<string>) =>
    fc.assert(
      fc.property(arbitrary, (uri) => !isOwn(uri)),
      { numRuns: NEAR_MISSES },
    );

  test.each([
    `${PUBLIC}/oauth/mcp-callback`,
    'https://claude.ai/api/mcp/auth_callback',
    'https://claude.com/api/mcp/auth_callback',
    'https://chatgpt.com/aip/g-12ab/oauth/callback',
    'https://chat.openai.com/aip/g-12ab/oauth/callback',
  ])('%s', (uri) => refused(fixed.map((change) => change(uri)).filter((changed) => changed !== uri)));

  test('the segment of the pattern', () => {
    const host = fc.constantFrom('chatgpt.com', 'chat.openai.com');
    refused(
      fc.tuple(host, badSegment).map(([name, segment]) => `https://${name}/aip/${segment}/oauth/callback`),
    );
  });

  test.each([
    'http://localhost:3118/callback',
    'http://127.0.0.1:3118/callback',
    'http://[::1]:3118/callback',
  ])('%s', (uri) => {
    const loopback = fc.oneof(
      always,
      fc.constantFrom<(text: string) => string>(
        (text) => text.replace(/^http/, 'https'),
        (text) => text.replace(':3118', ':0'),
        (text) => text.replace(':3118', ':'),
        (text) => text.replace(':3118', ':65536'),
        (text) => text.replace(':3118', ':999999'),
        (text) => text.replace(':3118', ':03118'),
        (text) => text.replace(':3118', ':31a8'),
        (text) => text.replace(':3118', ':*'),
        (text) => text.replace(':3118', ':-1'),
        (text) => text.replace(':3118', '@evil.example:3118'),
        (text) => text.replace(/localhost|127\.0\.0\.1|\[::1\]/, 'LOCALHOST'),
        (text) => text.replace(/localhost|127\.0\.0\.1|\[::1\]/, '127.0.0.2'),
        (text) => text.replace(/localhost|127\.0\.0\.1|\[::1\]/, '127.1'),
        (text) => text.replace(/localhost|127\.0\.0\.1|\[::1\]/, '0.0.0.0'),
        (text) => text.replace(/localhost|127\.0\.0\.1|\[::1\]/, '[::]'),
        (text) => text.replace(/localhost|127\.0\.0\.1|\[::1\]/, '[::ffff:127.0.0.1]'),
        (text) => text.replace(/localhost|127\.0\.0\.1|\[::1\]/, '2130706433'),
        (text) => text.replace(/localhost|127\.0\.0\.1|\[::1\]/, 'localhost.localdomain'),
        (text) => text.replace(/localhost|127\.0\.0\.1|\[::1\]/, 'notlocalhost'),
        (text) => `${text}%zz`,
        (text) => `${text}/ä`,
        (text) => `${text}/a b`,
        (text) => `${text}/<script>`,
        (text) => `${text}/${'a'.repeat(3_000)}`,
      ),
      fc
        .integer({ min: 65_536, max: 9_999_999 })
        .map((port) => (text: string) => text.replace('3118', String(port))),
    );
    refused(loopback.map((change) => change(uri)).filter((changed) => changed !== uri));
  });

  test('random addresses', () =>
    refused(fc.oneof(fc.webUrl(), fc.string(), fc.webUrl({ withFragments: true }))));
});

describe('[TH-4] other clients: exact match, the loopback port aside', () => {
  const registered = [
    'https://app.example/cb',
    'http://127.0.0.1:3118/callback',
    'http://localhost/cb?x=1',
    'app.x:/cb',
  ];
  test.each([
    ['https://app.example/cb', true],
    ['https://app.example/cb/', false],
    ['https://app.example:443/cb', false],
    ['https://app.example/cb?x', false],
    ['https://APP.example/cb', false],
    ['http://127.0.0.1:9999/callback', true],
    ['http://127.0.0.1/callback', true],
    ['http://127.0.0.1:9999/callback2', false],
    ['http://127.0.0.1:9999/callback?x', false],
    ['http://localhost:9999/callback', false],
    ['http://localhost:1/cb?x=1', true],
    ['http://localhost:1/cb', false],
    ['http://127.0.0.1:99999/callback', false],
    ['http://127.0.0.1:80@evil.example/callback', false],
    ['http://127.0.0.1.evil.example/callback', false],
    ['https://127.0.0.1:3118/callback', false],
    ['app.x:/cb', true],
    ['app.x:/cb2', false],
  ])('%s: %s', (uri, allowed) => expect(isRegisteredRedirect(uri, registered)).toBe(allowed));
});

test('[TH-4.7] what may be registered', () => {
  for (const uri of [
    'https://app.example/cb',
    'http://localhost:1/x',
    'http://[::1]/x',
    'vscode://x/y',
    'com.example.app:/cb',
  ])
    expect(registrationFault(uri)).toBeUndefined();
  for (const uri of [
    'http://app.example/',
    'https://a@b/',
    'JavaScript:alert(1)',
    'https://b/#',
    'https://b\\@c/',
    'x',
    '',
    'https://@b/',
    'com.example.app://user@b/',
    'https://b\\c/',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://localhost:80.evil.example/',
    'http://localhost:99999/',
    `https://b/${'a'.repeat(2_048)}`,
  ])
    expect([uri, registrationFault(uri)]).toEqual([uri, expect.any(String)]);
});

test.each([
  ...['vbscript:x', 'data:text/html,x', 'blob:https://b/x', 'file:///x', 'about:blank', 'filesystem:x'],
  ...['view-source:https://b/', 'ws://b/', 'wss://b/', 'ftp://b/'],
])('[TH-4.7] an address that a browser would run or show itself is not registered: %s', (uri) => {
  expect(registrationFault(uri)).toMatch(/^uses the scheme/);
});

test('[TH-4.14] a name that begins like the own machine is not on it', () => {
  for (const uri of ['http://localhost:1/x', 'http://127.0.0.1', 'http://[::1]?x'])
    expect(isLoopback(uri)).toBe(true);
  for (const uri of [
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example',
    'http://localhost:1.evil.example/',
  ])
    expect(isLoopback(uri)).toBe(false);
});

test('[TH-4] the host that the consent page names', () => {
  expect(redirectHost('https://app.example:8443/cb')).toBe('app.example:8443');
  expect(redirectHost('cursor://anysphere.cursor-mcp/oauth/callback')).toBe('cursor://anysphere.cursor-mcp');
});
