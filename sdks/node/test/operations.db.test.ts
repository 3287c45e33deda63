// Every operation of the API's own document is called through the SDK, against the real service.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../tests/contract/payments/harness.ts';
import { type Call, fillIn, operationsOf, readCalls } from '../../test/calls.ts';
import { type FaultProxy, startFaultProxy } from '../../test/fault-proxy.ts';
import { Payments } from '../src/index.ts';

let harness: Harness;
let proxy: FaultProxy;
let client: Payments;
let known: string[];
const saved: Record<string, string> = { receiver: 'https://example.com/webhooks' };
const calls = readCalls();

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_ROLE: 'api' } });
  proxy = await startFaultProxy(harness.url);
  const { test: apiKey } = await harness.organisation();
  client = new Payments({ apiKey, baseUrl: proxy.url, maxRetries: 0 });
  known = operationsOf((await harness.call('GET', '/openapi.json')).body);
});
afterAll(async () => {
  await proxy.close();
  await harness.stop();
});

type Method = (...values: unknown[]) => PromiseLike<unknown> | AsyncIterable<unknown>;

async function perform({ call, positional = [], fields, options }: Call): Promise<string | undefined> {
  const [resource, name] = call.split('.') as [string, string];
  const holder = (client as unknown as Record<string, Record<string, Method>>)[resource];
  const given = fillIn([...positional, ...(fields ? [fields] : []), ...(options ? [options] : [])], saved);
  const result = holder?.[name]?.(...given);
  if (result === undefined) throw new Error(`the SDK has no ${call}`);
  if (!(Symbol.asyncIterator in result)) return ((await result) as { id?: string } | undefined)?.id;
  for await (const item of result) return (item as { id?: string }).id;
  return undefined;
}

const templateOf = (method: string, path: string) => {
  const [bare] = path.split('?') as [string];
  return known.find((operation) => {
    const [verb, template] = operation.split(' ') as [string, string];
    return (
      verb === method &&
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, '(?!quote$|export$|stream$)[^/]+')}$`).test(bare)
    );
  });
};

test('the list of calls has every operation that the API describes', () => {
  expect(known.filter((operation) => !calls.some((call) => call.operation === operation))).toEqual([]);
});

test.each(calls)('$call is $operation', async (call) => {
  if (!known.includes(call.operation)) return;
  proxy.plan([]);
  const id = await perform(call);
  if (call.saves !== undefined) saved[call.saves] = id as string;
  const [request] = proxy.seen;
  expect(templateOf(request?.method ?? '', request?.path ?? '')).toBe(call.operation);
});
