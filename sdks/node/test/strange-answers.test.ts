import { expect, test } from 'vitest';
import { ConnectionFailedError, Payments, ServerError } from '../src/index.ts';
import { body, failure } from './failing-calls.ts';
import { type Answer, empty, json, problem, scriptedServer } from './scripted-server.ts';

async function serve(...answers: [Answer, ...Answer[]]) {
  const server = await scriptedServer(...answers);
  const client = new Payments({ apiKey: 'sk_test_x', baseUrl: server.url, maxRetries: 0 });
  return { client, seen: server.seen };
}

test.each([[null], [[]], ['text'], [{}], [{ data: null }]])(
  '%j instead of a list is an answer of another server',
  async (answer) => {
    const { client } = await serve(json(200, answer));
    const error = await failure(client.payments.list().toArray({ limit: 1 }));
    expect(error).toBeInstanceOf(ConnectionFailedError);
    expect(error.code).toBe('invalid_response');
  },
);

test.each<[string, Answer, boolean]>([
  ['200 without a body', empty(200), true],
  ['202 without a body', empty(202), true],
  ['204', empty(204), true],
  ['null', json(200, null), false],
  ['a list', json(202, []), false],
  ['a text', json(202, 'text'), false],
])('%s is no payment and no endpoint', async (_title, answer, retryable) => {
  const { client } = await serve(answer);
  for (const call of [
    () => client.payments.create(body),
    () => client.payments.get('pay_1'),
    () => client.payments.waitFor('pay_1', 'completed', { timeoutMs: 0 }),
    () => client.webhookEndpoints.create({ url: 'https://example.com' }),
    () => client.webhookEndpoints.update('we_1', { description: 'x' }),
  ]) {
    const error = await failure(call());
    const answered = error.code === 'wait_timeout' ? error.cause : error;
    expect(answered).toBeInstanceOf(ConnectionFailedError);
    expect(answered).toMatchObject({ code: 'invalid_response', retryable });
  }
});

test('an answer without a body is asked for again with the same key, and one to a deletion is its end', async () => {
  const { client, seen } = await serve(empty(202), json(202, { id: 'pay_1' }), empty(200), empty(204));
  expect(await client.payments.create(body, { maxRetries: 1 })).toEqual({ id: 'pay_1' });
  expect(seen[1]?.headers['idempotency-key']).toBe(seen[0]?.headers['idempotency-key']);
  expect(await client.paymentMethods.delete('pm_1')).toBeUndefined();
  expect(await client.sandbox.freeClock()).toBeUndefined();
});

test('a refusal stays one, whatever stands among its bad fields', async () => {
  const { client } = await serve(
    problem(502, 'internal', {}, { errors: [null, 1, { code: 'x', detail: 'y' }] }),
  );
  const error = await failure(client.payments.get('pay_1'));
  expect(error).toBeInstanceOf(ServerError);
  expect(error.errors).toEqual([{ code: 'x', detail: 'y' }]);
});

test('the content type is read in any letter case', async () => {
  const { client } = await serve(
    problem(422, 'same_payment_method', { 'content-type': 'Application/Problem+JSON' }),
  );
  expect((await failure(client.payments.get('pay_1'))).code).toBe('same_payment_method');
});

test('an error says how long the server asked to wait', async () => {
  const { client } = await serve(
    problem(429, 'rate_limited', { 'retry-after': '90' }),
    problem(404, 'not_found'),
  );
  expect((await failure(client.payments.get('pay_1'))).retry_after).toBe(90);
  expect((await failure(client.payments.get('pay_1'))).retry_after).toBeUndefined();
});

test('an export that is cut ends with an error that can be told', async () => {
  const { client } = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' });
    response.write('id\n', () => response.destroy());
  });
  const read = async () => {
    for await (const _chunk of client.payments.export());
  };
  const error = await failure(read());
  expect(error).toBeInstanceOf(ConnectionFailedError);
  expect(error.message).toBe('The export was cut.');
});

test.each([[{ 'x-name': '日本' }], [{ 'x-name': 'a\r\nb: c' }], [{ 'x name': 'a' }]])(
  'the header %j is a mistake in the call, and nothing to try again',
  async (headers) => {
    const { client, seen } = await serve(json(200, {}));
    await expect(client.payments.get('pay_1', { headers, maxRetries: 3 })).rejects.toThrow(TypeError);
    expect(seen).toHaveLength(0);
  },
);

test('an idempotency key that is given as a header is the key', async () => {
  const { client, seen } = await serve(json(202, {}));
  await client.payments.create(body, { headers: { 'Idempotency-Key': 'order-17' } });
  await client.payments.create(body, {
    headers: { 'Idempotency-Key': 'order-17' },
    idempotencyKey: 'order-18',
  });
  expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['order-17', 'order-18']);
});

test('withOptions keeps what is undefined, and the options of a client do not change behind its back', async () => {
  const { client, seen } = await serve(json(200, {}));
  const options = { apiKey: 'sk_test_y' };
  const other = client.withOptions({ apiKey: undefined, timeoutMs: undefined });
  const own = client.withOptions(options);
  options.apiKey = 'sk_test_z';
  await other.payments.get('pay_1');
  await own.withOptions({}).payments.get('pay_1');
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk_test_x', 'Bearer sk_test_y']);
});

test('an option that is not known is named, and nothing is sent', async () => {
  const { client, seen } = await serve(json(202, {}));
  const wrong: [string, () => PromiseLike<unknown>][] = [
    ['"idempotency_key"', () => client.payments.create(body, { idempotency_key: 'order-17' } as object)],
    ['as an object', () => client.payments.create(body, 'order-17' as unknown as object)],
    ['"timeout"', () => client.payments.list({}, { timeout: 5 } as object).page()],
    ['"timeout"', () => client.payments.waitFor('pay_1', 'completed', { timeout: 5 } as object)],
    ['"last_event_id"', () => client.events.stream({ last_event_id: 'evt_1' } as object).next()],
  ];
  for (const [message, call] of wrong) {
    const error = await failure(call());
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(message);
  }
  expect(() => new Payments({ apiKey: 'sk_test_x', baseURL: 'http://x' } as object)).toThrow('"baseURL"');
  expect(() => client.withOptions({ timeout: 5 } as object)).toThrow('"timeout"');
  expect(seen).toEqual([]);
});
