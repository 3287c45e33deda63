// Every route, sent what no sensible client sends: an answer below 500, and soon.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import { ADMIN_TOKEN, type LoneInstance, startAlone } from '../../../services/toolhub/test/instance.ts';

let instance: LoneInstance;
let url: string;
let account: Account;
let token: string;
let operations: Operation[];

interface Operation {
  method: string;
  path: string;
}

/** Routes that the reference for customers does not show. */
const hidden: Operation[] = [
  ...['/oauth/authorize', '/oauth/authorize/{uid}', '/oauth/connect-mcp', '/oauth/mcp-callback'],
  ...['/oauth/login', '/oauth/signup', '/oauth/interaction/{uid}', '/oauth/jwks', '/webhooks/whatsapp'],
].map((path) => ({ method: 'GET', path }));
for (const path of [
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/register',
  '/oauth/login',
  '/oauth/signup',
  '/mcp',
])
  hidden.push({ method: 'POST', path });
for (const form of ['', '/login', '/signup', '/consent', '/switch'])
  hidden.push({ method: 'POST', path: `/oauth/interaction/{uid}${form}` });

beforeAll(async () => {
  instance = await startAlone({ env: { TOOLHUB_RATE: '0' } });
  url = instance.url;
  account = await signUp(url);
  ({ token } = await makeToken(url, account, {
    scopes: ['tools:read', 'tools:write', 'account:read', 'account:write'],
  }));
  const { body } = await call<{ paths: Record<string, object> }>(`${url}/openapi.json`);
  operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  operations.push(...hidden);
});

afterAll(() => instance.stop());

/** Longer than any answer that only says no; checks of passwords take their turn. */
const BOUND_MS = 2_000;
const NOT_CONFIGURED = 503;

const nasty = fc.constantFrom(
  ...[
    '%00',
    'a%00b',
    '%ED%A0%80',
    '%FF%FE',
    '%C0%80',
    '..%2F..%2Fetc',
    '%F0%9F%A6%93',
    '-1',
    '1e999',
    'NaN',
    'null',
  ],
  ...[
    'x'.repeat(500),
    '%25',
    "'; drop table customers; --",
    '{}',
    '[]',
    'constructor',
    '__proto__',
    '9'.repeat(40),
  ],
);
const nastyText = fc.oneof(
  fc.string({ maxLength: 20, unit: 'binary' }),
  fc.constantFrom(
    '\0',
    '\ud800',
    'a\udfffb',
    '',
    ' ',
    'x'.repeat(20_000),
    '\u202e',
    '__proto__',
    '2026-02-30',
  ),
);
const nastyValue = fc.oneof(
  nastyText,
  fc.double(),
  fc.constantFrom(null, true, -1, 2 ** 53, 1e308, [], {}),
  fc.array(nastyText, { maxLength: 5 }),
  fc.integer({ min: 1, max: 2_000 }).map((depth) => nest(depth)),
  fc.jsonValue({ maxDepth: 4 }),
);
const names = [
  'email',
  'password',
  'name',
  'token',
  'plan',
  'events',
  'webhook_url',
  'enabled',
  'scopes',
  'method',
];
const nastyBody = fc.oneof(
  nastyValue,
  fc.dictionary(fc.oneof(fc.constantFrom(...names, 'params', 'bot_token', 'imap'), nastyText), nastyValue, {
    maxKeys: 6,
  }),
);

function nest(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const attempt = fc.record({
  pick: fc.nat(),
  parameter: nasty,
  query: fc.dictionary(
    fc.constantFrom('limit', 'cursor', 'from', 'to', 'group', 'email', 'platforms', 'request'),
    nasty,
    {
      maxKeys: 3,
    },
  ),
  body: nastyBody,
  as: fc.constantFrom('cookie', 'token', 'admin', 'nobody'),
  type: fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'text/plain'),
});

test('[TH-13.11] no answer is 5xx, and none is late', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(attempt, { minLength: 4, maxLength: 8 }), async (attempts) => {
      for (const { pick, parameter, query, body, as, type } of attempts) {
        const { method, path } = operations[pick % operations.length] as Operation;
        const search = Object.entries(query).map(([name, value]) => `${name}=${value}`);
        const address = `${url}${path.replaceAll(/\{\w+\}/g, parameter)}?${search.join('&')}`;
        const hasBody = method !== 'GET' && method !== 'HEAD';
        const startedMs = performance.now();
        const answer = await fetch(address, {
          method,
          redirect: 'manual',
          headers: {
            accept: 'application/json, text/event-stream',
            ...(hasBody ? { 'content-type': type } : {}),
            ...(as === 'cookie' ? { cookie: account.cookie } : {}),
            ...(as === 'token' ? { authorization: `Bearer ${token}` } : {}),
            ...(as === 'admin' ? { authorization: `Bearer ${ADMIN_TOKEN}` } : {}),
          },
          ...(hasBody
            ? { body: type === 'application/json' ? JSON.stringify(body) : String(parameter) }
            : {}),
        });
        const text = await answer.text();
        const tookMs = performance.now() - startedMs;
        const isFine = answer.status < 500 || answer.status === NOT_CONFIGURED;
        expect({
          method,
          address,
          as,
          status: answer.status,
          text: isFine ? '' : text,
          isFine,
        }).toMatchObject({
          isFine: true,
        });
        expect([method, path, tookMs < BOUND_MS]).toEqual([method, path, true]);
      }
    }),
    { numRuns: 120 },
  );
}, 120_000);
