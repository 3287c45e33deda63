// Whatever is sent, the answer is a 4xx that names what is wrong, and nothing is stored.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Harness, startHarness } from './harness.ts';
import { signUp } from './person.ts';

let harness: Harness;
let operations: { method: string; path: string; isForPeople: boolean }[];
let key: string;
let cookie: string;

beforeAll(async () => {
  harness = await startHarness();
  ({ test: key } = await harness.organisation());
  cookie = (await signUp(harness)).cookie as string;
  const { paths } = (await harness.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, { security?: object[] }>>;
  };
  operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/') && !path.startsWith('/v1/admin/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security = [] }]) => ({
        ...{ method: method.toUpperCase(), path },
        isForPeople: security.length > 0 && security.every((way) => 'session' in way),
      })),
    )
    .filter(({ method }) => method === 'POST' || method === 'PATCH');
});
afterAll(() => harness.stop());

const oddText = fc.constantFrom(
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202eevil',
  '\u{1f4b8}',
  'a\u0301',
  "'; drop table payments; --",
  '../../etc/passwd',
  '{{payment_moves}}',
  'x'.repeat(5_000),
  '__proto__',
  'constructor',
);
const oddNumber = fc.constantFrom(0, -1, 1.5, 1e21, -1e21, 2 ** 53, 2 ** 63, 1e308, 10_000_000_000);
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  oddNumber,
  fc.boolean(),
  fc.constant(null),
  fc.constant([]),
  fc.constant({}),
  fc.jsonValue({ maxDepth: 3 }),
);

const valid = {
  amount: 2_500,
  currency: 'USD',
  source: { payment_method_id: 'pm_a' },
  destination: { payment_method_id: 'pm_b' },
};

/** A good body with one to three fields replaced by something odd: at least one is always wrong. */
const spoiled = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'amount',
        'currency',
        'source',
        'destination',
        'rail',
        'routing',
        'metadata',
        'description',
        'extra',
      ),
      oddValue,
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((changes) => ({ ...valid, ...Object.fromEntries(changes) }) as Record<string, unknown>);

function expectProblem(answer: Answer, label: string): void {
  expect(answer.status, `${label}: ${answer.text}`).toBeGreaterThanOrEqual(400);
  expect(answer.status, `${label}: ${answer.text}`).toBeLessThan(500);
  expect(answer.headers.get('content-type'), label).toMatch(/^application\/problem\+json/);
  expect(answer.body, label).toMatchObject({
    code: expect.any(String),
    request_id: answer.headers.get('x-request-id'),
  });
  expect(answer.text, label).not.toMatch(/\bat .*\.ts:\d+/);
}

test('[P-2.7] spoiled payments are refused with every bad field named, or are good after all', async () => {
  let n = 0;
  await fc.assert(
    fc.asyncProperty(spoiled, async (body) => {
      n += 1;
      const answer = await harness.call('POST', '/v1/payments', {
        key,
        raw: JSON.stringify(body),
        headers: { 'idempotency-key': `fuzz-${n}` },
      });
      if (answer.status === 202) return;
      expectProblem(answer, JSON.stringify(body).slice(0, 300));
      if (answer.body.code !== 'invalid_request') return;
      expect(answer.body.errors.length).toBeGreaterThan(0);
      // Characters that cannot be stored are refused while the text is read, before fields are looked at.
      const unreadable = /\\u0000|\\ud800/.test(JSON.stringify(body));
      if ('extra' in body && !unreadable) {
        expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain('/extra');
      }
    }),
    { numRuns: 300 },
  );
});

test('[P-2.8] [P-2.10] every endpoint that takes a body refuses garbage without a 5xx', async () => {
  const raws = [
    '',
    '{',
    '[1,2',
    'null',
    '"text"',
    '123',
    '[]',
    '{"a":1,"a":2}',
    '{"amount":1e999}',
    `{"a":${'['.repeat(200)}${']'.repeat(200)}}`,
    '{"\\u0000":1}',
    '{"__proto__":{"x":1}}',
    `{"a":"${'x'.repeat(64 * 1024)}"}`,
    '\ufeff{}',
  ];
  for (const { method, path, isForPeople } of operations) {
    // An empty body is all that some of them need.
    const takesNothing =
      /\/(cancel|settle|reject|notify_of_change|rotate_secret|test|retry|reset|keys|roll|logout|resend|options|live_access)$/.test(
        path,
      );
    const caller = isForPeople ? null : key;
    const credentials: Record<string, string> = isForPeople ? { cookie } : {};
    for (const raw of raws) {
      if (takesNothing && raw === '') continue;
      const answer = await harness.call(method, path.replace('{id}', 'pay_none'), {
        key: caller,
        raw,
        headers: { ...credentials, 'idempotency-key': 'garbage' },
      });
      expectProblem(answer, `${method} ${path} ${raw.slice(0, 40)}`);
    }
    const wrongType = await harness.call(method, path.replace('{id}', 'pay_none'), {
      key: caller,
      raw: 'amount=1',
      headers: {
        ...credentials,
        ...{ 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': 'form' },
      },
    });
    // A form with a cookie may come from any site, which is refused before its type.
    expect([404, isForPeople ? 403 : 415], path).toContain(wrongType.status);
  }
});

test('[P-2.10] a body of exactly 64 KiB is read, one more byte is 413', async () => {
  const fill = (bytes: number) => {
    const frame = JSON.stringify({ ...valid, description: '' });
    return JSON.stringify({ ...valid, description: 'x'.repeat(bytes - frame.length) });
  };
  const send = (raw: string) =>
    harness.call('POST', '/v1/payments', { key, raw, headers: { 'idempotency-key': 'size' } });
  expect((await send(fill(65_536))).status).toBe(422);
  expect((await send(fill(65_537))).status).toBe(413);
});

test('[P-4.7] what was refused is not there', async () => {
  const { test: fresh } = await harness.organisation();
  for (const body of [
    { ...valid, amount: 0 },
    { ...valid, currency: 'EUR' },
    { ...valid, extra: 1 },
  ]) {
    await harness.call('POST', '/v1/payments', { key: fresh, body, headers: { 'idempotency-key': 'k' } });
  }
  for (const path of ['/v1/payments', '/v1/events', '/v1/payment_methods', '/v1/ledger/entries']) {
    expect((await harness.call('GET', path, { key: fresh })).body.data, path).toEqual([]);
  }
});
