import type { OpenApiDocument } from '@libs/http';
import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToolhubDatabase, type Instance, startInstance } from '../../services/toolhub/test/instance.ts';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { newCustomer } from '../contract/toolhub/customer.ts';
import { useGeneratedClients } from './generated-clients.ts';
import { type Listed, listOperations, parametersOf, requestOf } from './operations.ts';

const products = ['payments', 'toolhub'] as const;
type Product = (typeof products)[number];

let payments: Harness;
let toolhub: Instance;
let database: Awaited<ReturnType<typeof createToolhubDatabase>>;
const documents = {} as Record<Product, OpenApiDocument>;

beforeAll(async () => {
  [payments, database] = await Promise.all([
    startHarness({ env: { PAYMENTS_ROLE: 'api' } }),
    createToolhubDatabase(),
  ]);
  toolhub = await startInstance(database.url);
  documents.payments = (await payments.call('GET', '/openapi.json')).body;
  documents.toolhub = (await (await fetch(`${toolhub.url}/openapi.json`)).json()) as OpenApiDocument;
});
afterAll(async () => {
  await Promise.all([payments.stop(), toolhub.stop()]);
  await database.drop();
});

/** What the linter says and we keep, each with the reason. */
const kept: { rule: string; at: RegExp }[] = [
  // Browsers are led to the vendor and back: there is no 2xx to give.
  { rule: 'operation-2xx-response', at: /^#\/paths\/~1api~1connect~1/ },
];

async function lint(document: OpenApiDocument): Promise<string[]> {
  // A server under test is on this machine, which no published document may say.
  const published = { ...document, servers: [{ url: 'https://api.product.dev' }] };
  const problems = await lintDocument({
    document: makeDocumentFromString(JSON.stringify(published), 'openapi.json'),
    externalRefResolver: new BaseResolver(),
    config: await createConfig({ extends: ['recommended'] }),
  });
  return problems
    .map(({ ruleId, message, location }) => ({ rule: ruleId, at: location[0]?.pointer ?? '', message }))
    .filter(({ rule, at }) => !kept.some((one) => one.rule === rule && one.at.test(at)))
    .map(({ rule, at, message }) => `${rule} ${at} ${message}`);
}

/** What takes nothing but a person's session is there for our own pages. */
function isForPrograms({ path, operation }: Listed): boolean {
  const schemes = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme));
  const isPagesOnly = schemes.length > 0 && schemes.every((scheme) => scheme === 'session');
  return !path.startsWith('/v1/session') && !isPagesOnly;
}

describe.each(products)('%s', (product) => {
  test('the linter has nothing to say', async () => {
    expect(await lint(documents[product])).toEqual([]);
  });

  test('[P-9.1] every operation has a name of its own, says what it does, and has examples', () => {
    const document = documents[product];
    const operations = listOperations(document);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    const missing = operations.filter(isForPrograms).flatMap((listed) => {
      const { name, operation } = listed;
      const media = Object.values(operation.responses)
        .flatMap((answer) => ('content' in answer ? Object.entries(answer.content ?? {}) : []))
        .concat(Object.entries(operation.requestBody?.content ?? {}))
        .filter(([type]) => type !== 'application/xml')
        .map(([, one]) => one);
      return [
        ...(/^[a-z_]+(\.[a-z_]+)+$/.test(listed.id) ? [] : [`${name}: operationId ${listed.id}`]),
        ...(operation.summary ? [] : [`${name}: summary`]),
        ...(operation.description ? [] : [`${name}: description`]),
        ...(media.every((one) => 'example' in one) ? [] : [`${name}: example`]),
        ...parametersOf(document, listed)
          .filter((parameter) => parameter.in === 'path' && parameter.example === undefined)
          .map((parameter) => `${name}: example of ${parameter.name}`),
      ];
    });
    expect(missing).toEqual([]);
  });

  test('lists, parameters and answers refer to one schema per noun', () => {
    const operations = listOperations(documents[product]).filter(isForPrograms);
    const inline = operations.flatMap(({ name, operation: { requestBody, responses } }) =>
      [...Object.entries(responses), ['body', requestBody] as const]
        .filter(([status]) => status === 'body' || status.startsWith('2'))
        .map(([status, one]) => ({ status, media: one && 'content' in one ? one.content : undefined }))
        .filter(({ media }) => media?.['application/json'] && !media['application/json'].schema.$ref)
        .map(({ status }) => `${name} ${status}`),
    );
    expect(inline).toEqual([]);
  });
});

/** The operations of a program, in an order in which each finds what it needs; `id` names what an earlier one made. */
const pasted: { call: string; id?: string; saves?: string; body?: object; key?: string }[] = [
  { call: 'payments.create', saves: 'payment' },
  { call: 'payments.quote' },
  { call: 'payments.list' },
  { call: 'payments.export' },
  { call: 'payments.get', id: 'payment' },
  { call: 'payments.messages', id: 'payment' },
  { call: 'payments.cancel', id: 'payment' },
  { call: 'payments.create', key: 'second', saves: 'second' },
  { call: 'sandbox.settle', id: 'second' },
  { call: 'payments.refund', id: 'second' },
  { call: 'sandbox.notify_of_change', id: 'second' },
  { call: 'sandbox.return', id: 'second' },
  { call: 'payments.create', key: 'third', saves: 'third' },
  { call: 'sandbox.reject', id: 'third' },
  { call: 'payment_methods.get' },
  { call: 'payment_methods.create', saves: 'method' },
  { call: 'payment_methods.list' },
  { call: 'payment_methods.delete', id: 'method' },
  { call: 'payment_methods.create', body: { type: 'balance' }, saves: 'balance' },
  { call: 'sandbox.fund', id: 'balance' },
  { call: 'webhook_endpoints.create', saves: 'endpoint' },
  { call: 'webhook_endpoints.list' },
  { call: 'webhook_endpoints.get', id: 'endpoint' },
  { call: 'webhook_endpoints.update', id: 'endpoint' },
  { call: 'webhook_endpoints.rotate_secret', id: 'endpoint' },
  { call: 'webhook_endpoints.test', id: 'endpoint', saves: 'delivery' },
  { call: 'webhook_endpoints.deliveries', id: 'endpoint' },
  { call: 'webhook_deliveries.retry', id: 'delivery' },
  { call: 'webhook_endpoints.delete', id: 'endpoint' },
  { call: 'events.list', saves: 'event' },
  { call: 'events.get', id: 'event' },
  { call: 'ledger.accounts' },
  { call: 'ledger.entries' },
  { call: 'ledger.check' },
  { call: 'fees.get' },
  { call: 'sandbox.set_clock' },
  { call: 'sandbox.get_clock' },
  { call: 'sandbox.free_clock' },
  { call: 'sandbox.reset' },
];
/** Stays open; its own tests read it. */
const STREAM = 'events.stream';

test('[P-9.3] the examples work as they stand, with the token of the sandbox', async () => {
  const operations = listOperations(documents.payments);
  const saved: Record<string, string> = {};
  for (const { call, id, saves, body, key } of pasted) {
    const listed = operations.find((one) => one.id === call);
    if (listed === undefined) throw new Error(`there is no ${call}`);
    const { method, path, headers, ...request } = requestOf(documents.payments, listed, id && saved[id]);
    if (key !== undefined) headers['Idempotency-Key'] = key;
    const answer = await payments.call(method, path, { headers, body: body ?? request.body });
    expect([call, answer.status, answer.status < 300 ? '' : answer.text]).toEqual([call, answer.status, '']);
    if (saves !== undefined) saved[saves] = answer.body.id ?? answer.body.data[0].id;
  }
  const forPrograms = operations
    .filter(({ operation }) => operation.security?.some((scheme) => 'apiKey' in scheme))
    .map(({ id }) => id);
  expect([...new Set([...pasted.map(({ call }) => call), STREAM])].sort()).toEqual(forPrograms.sort());
});

test('[P-9.2] clients that others generate type-check and run', async () => {
  const { token: toolhubToken } = await newCustomer(toolhub.url);
  const urls = { payments: payments.url, toolhub: toolhub.url };
  await useGeneratedClients({ documents, urls, toolhubToken });
}, 180_000);
