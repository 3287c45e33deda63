// Checks that no schema can make join those that it makes: one answer names every bad field.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, type Answer, type Harness, startHarness } from './harness.ts';
import { signUp } from './person.ts';

let harness: Harness;
let person: Awaited<ReturnType<typeof signUp>>;
let key: string;
let organisationId: string;
let balance: string;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_ROLE: 'api' } });
  person = await signUp(harness);
  ({ id: organisationId, test: key } = await harness.organisation());
  balance = (await harness.call('POST', '/v1/payment_methods', { key, body: { type: 'balance' } })).body.id;
});
afterAll(() => harness.stop());

const TOO_MUCH = 10_000_000_000;
const PAST = '2020-01-01T00:00:00Z';
const PRIVATE_URL = 'https://10.0.0.1/x';

const post = (path: string, body: unknown, as = key) => harness.call('POST', path, { key: as, body });

interface Named {
  pointer?: string;
  parameter?: string;
  code: string;
}

/** Each bad field with its code, in order. */
const namedBy = ({ body }: Answer): Record<string, string> =>
  Object.fromEntries(
    (body.errors ?? [])
      .map(({ pointer, parameter, code }: Named) => [pointer ?? parameter, code])
      .sort(([a]: string[], [b]: string[]) => ((a ?? '') < (b ?? '') ? -1 : 1)),
  );

const UNKNOWN = 'unknown_field';

describe('[P-2.7] all bad fields at once', () => {
  const fund = (body: object) => post(`/v1/sandbox/payment_methods/${balance}/fund`, body);

  test('of test money: more than a payment carries, with or without others', async () => {
    const alone = await fund({ amount: TOO_MUCH });
    expect([alone.body.code, namedBy(alone)]).toEqual([
      'amount_too_large',
      { '/amount': 'amount_too_large' },
    ]);
    const both = await fund({ amount: TOO_MUCH, x: 1 });
    expect([both.body.code, namedBy(both)]).toEqual([
      'invalid_request',
      { '/amount': 'amount_too_large', '/x': UNKNOWN },
    ]);
    expect(namedBy(await fund({ amount: 'much', x: 1 }))).toEqual({ '/amount': 'wrong_type', '/x': UNKNOWN });
  });

  test('of the clock: what is no duration, and both or none of its two fields', async () => {
    const clock = async (body: object) => namedBy(await post('/v1/sandbox/clock', body));
    expect(await clock({ advance: 'x', foo: 1 })).toEqual({ '/advance': 'invalid_format', '/foo': UNKNOWN });
    expect(await clock({ advance: 'P1D', now: '2027-01-01', foo: 1 })).toEqual({
      '/advance': 'one_of',
      '/foo': UNKNOWN,
    });
    expect(await clock({ foo: 1 })).toEqual({ '/foo': UNKNOWN, '/now': 'one_of' });
    expect(await clock({ advance: 'x', now: 'soon' })).toEqual({
      '/advance': 'invalid_format',
      '/now': 'invalid_format',
    });
    expect((await post('/v1/sandbox/clock', { advance: 'x' })).body.errors[0].detail).toBe(
      'Must be an ISO 8601 duration such as P3D.',
    );
    expect(await clock({})).toEqual({ '/now': 'one_of' });
  });

  test('of a new key: an end in the past, for the operator and for a person', async () => {
    const body = { expires_at: PAST, zz: 1 };
    const expected = { '/expires_at': 'not_in_future', '/zz': UNKNOWN };
    const path = `/v1/admin/organisations/${organisationId}/keys`;
    expect(namedBy(await post(path, { mode: 'test', ...body }, ADMIN_TOKEN))).toEqual(expected);
    expect(namedBy(await person.call('POST', '/v1/keys', body))).toEqual(expected);
    expect(namedBy(await post(path, { mode: 'test', expires_at: 'soon', zz: 1 }, ADMIN_TOKEN))).toEqual({
      '/expires_at': 'invalid_format',
      '/zz': UNKNOWN,
    });
  });

  test('of a new organisation, or a key: a name of blanks', async () => {
    const organisation = await post('/v1/admin/organisations', { name: '  ', z: 1 }, ADMIN_TOKEN);
    expect(namedBy(organisation)).toEqual({ '/name': 'invalid_format', '/z': UNKNOWN });
    expect(namedBy(await person.call('POST', '/v1/keys', { name: ' ' }))).toEqual({
      '/name': 'invalid_format',
    });
  });

  test('of a webhook endpoint: an address that webhooks may not go to', async () => {
    const made = await post('/v1/webhook_endpoints', { url: PRIVATE_URL, events: ['nope'], foo: 1 });
    expect(namedBy(made)).toEqual({
      '/events/0': 'not_allowed',
      '/foo': UNKNOWN,
      '/url': expect.any(String),
    });
    expect(made.body.errors).toContainEqual({
      ...(await post('/v1/webhook_endpoints', { url: PRIVATE_URL })).body.errors[0],
    });
    const { id } = (await post('/v1/webhook_endpoints', { url: 'http://localhost:9/' })).body;
    const changed = await harness.call('PATCH', `/v1/webhook_endpoints/${id}`, {
      key,
      body: { url: PRIVATE_URL, foo: 1 },
    });
    expect(namedBy(changed)).toEqual({ '/foo': UNKNOWN, '/url': expect.any(String) });
  });

  test('of a session: the password that a change needs', async () => {
    const changed = await person.call('PATCH', '/v1/session', { passkey_required: true, zz: 1 });
    expect(namedBy(changed)).toEqual({ '/password': 'required', '/zz': UNKNOWN });
  });
});

describe('[P-2.5] all bad parameters at once', () => {
  test('of the figures: a time that is said twice, or ends before it begins', async () => {
    const overview = async (query: string) => namedBy(await person.call('GET', `/v1/overview?${query}`));
    expect(await overview('days=3&from=2026-01-01&x=1')).toEqual({
      days: 'conflict',
      x: 'unknown_parameter',
    });
    expect(await overview('from=2026-02-01&to=2026-01-01&x=1')).toEqual({
      from: 'out_of_range',
      x: 'unknown_parameter',
    });
    expect(await overview('from=soon&x=1')).toEqual({ from: 'invalid_format', x: 'unknown_parameter' });
  });

  test('of the reconciliation: what does not go together with a day', async () => {
    const answer = await harness.call('GET', '/v1/admin/reconciliation?day=2026-01-02&status=open&x=1', {
      key: ADMIN_TOKEN,
    });
    expect(namedBy(answer)).toEqual({ status: 'not_allowed', x: 'unknown_parameter' });
  });
});
