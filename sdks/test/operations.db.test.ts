// Every operation of the API's own document is called through each SDK, against the real service, and all send the same.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, NEXT_YEAR, startHarness } from '../../tests/contract/payments/harness.ts';
import { fillIn, filtersOf, operationsOf, readCalls } from './calls.ts';
import { type Driver, drivers } from './drivers.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

const calls = readCalls();
let harness: Harness;
let proxy: FaultProxy;
let known: string[];
let operationIds: Record<string, string>;
let filters: string[];
/** What each SDK sent for each call, with the ids of its own run by their names. */
const sent: Record<string, string[]> = {};

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_ROLE: 'api' } });
  proxy = await startFaultProxy(harness.url);
  const document = (await harness.call('GET', '/openapi.json')).body;
  operationIds = operationsOf(document);
  filters = filtersOf(document);
  known = Object.keys(operationIds);
});
afterAll(async () => {
  await proxy.close();
  await harness.stop();
});

/** `GET /v1/payments/{id}` for a path; fixed words come before places for ids. */
function operationAt(method: string, path: string): string | undefined {
  const [bare] = path.split('?') as [string];
  const fits = known.filter((operation) => {
    const [verb, template] = operation.split(' ') as [string, string];
    return verb === method && new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare);
  });
  return fits.find((operation) => !operation.includes('{')) ?? fits[0];
}

test('the calls have the names that the document gives its operations', () => {
  const snake = (name: string) =>
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/_$/, '');
  const wrong = Object.entries(operationIds).filter(
    ([operation, id]) => !calls.some((call) => call.operation === operation && snake(call.call) === id),
  );
  expect(wrong).toEqual([]);
});

test('the list of calls has every operation that the API describes, and no other', () => {
  const called = new Set(calls.map(({ operation }) => operation));
  expect([...called].sort()).toEqual([...known].sort());
});

test('the calls ask by every filter that the API describes', () => {
  const asked = new Set(
    calls.flatMap(({ operation, fields = {} }) => Object.keys(fields).map((name) => `${operation} ${name}`)),
  );
  expect(filters).toContain('GET /v1/payments refund_of');
  expect(filters.filter((filter) => !asked.has(filter))).toEqual([]);
});

describe.each(drivers)('$name', ({ name, start }) => {
  const saved: Record<string, string> = {
    receiver: 'https://example.com/webhooks',
    next_year: `${NEXT_YEAR}-03-01T15:00:00.000Z`,
  };
  let driver: Driver;
  beforeAll(async () => {
    const { test: apiKey } = await harness.organisation();
    driver = await start({ apiKey, baseUrl: proxy.url, timeoutMs: 20_000, maxRetries: 0 });
    sent[name] = [];
  }, 120_000);
  afterAll(() => driver.close());

  test.each(calls)('$call is $operation', async ({ operation, saves, ...call }) => {
    proxy.plan([]);
    const result = await driver.run(fillIn(call, saved));
    if (saves !== undefined) saved[saves] = ([result].flat()[0] as { id: string }).id;
    const [request] = proxy.seen;
    expect(request && operationAt(request.method, request.path)).toBe(operation);
    let text = `${request?.method} ${decodeURIComponent(request?.path ?? '')} ${request?.body}`;
    for (const [place, id] of Object.entries(saved)) text = text.replaceAll(id, `$${place}`);
    sent[name]?.push(text);
  });
});

test('all of them sent the same', () => {
  const [first, ...others] = drivers.map(({ name }) =>
    (sent[name] ?? []).map((text) => text.replaceAll(/[\s"]/g, '')),
  );
  expect(first).toHaveLength(calls.length);
  for (const other of others) expect(other).toEqual(first);
});
