// The short way and the SDK's way give the same answers, and the short way is only taken where that holds.
import { createMcpHandler, ProtocolError, Server, type Tool } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failureResult, successResult, type ToolResult } from '../calls/result.ts';
import { createCatalogue } from '../tools/catalogue.ts';
import { createToolLists, platformFilter } from '../tools/lists.ts';
import { createFastAnswers, createFastReader, type ListBody } from './fast-path.ts';
import type { JsonObject } from './message.ts';
import { LEGACY_VERSIONS } from './protocol.ts';
import { testPlatform } from './test/platform.ts';
import { readAnswer, SERVER_INFO } from './test/rig.ts';

const catalogue = createCatalogue({
  connectors: [testPlatform('alpha').connector],
  accountTools: [],
  internalAccounts: () => [],
});
const list = createToolLists(catalogue).forCustomer(
  { switches: { tools: new Set(), platforms: new Set(), key: '' }, connected: platformFilter(['alpha']) },
  { platforms: null, mode: 'list' },
);
const answers = createFastAnswers(SERVER_INFO);
const readFast = createFastReader();

function sdkHandler(result: ToolResult) {
  return createMcpHandler(() => {
    const server = new Server(SERVER_INFO, {
      capabilities: { tools: {} },
      supportedProtocolVersions: [...LEGACY_VERSIONS],
    });
    server.setRequestHandler('tools/list', ({ params }) => {
      if (params?.cursor !== undefined) throw new ProtocolError(-32602, 'no pages');
      return { tools: list.tools as unknown as Tool[] };
    });
    server.setRequestHandler('tools/call', () => result);
    return server;
  });
}

async function throughSdk(message: JsonObject, headers: Record<string, string>, result: ToolResult) {
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers,
    body: JSON.stringify(message),
  });
  const response = await sdkHandler(result).fetch(request);
  return { status: response.status, body: readAnswer(await response.text()) };
}

const PLAIN = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const modernHeaders = (method: string, name?: string) => ({
  ...PLAIN,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
});
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

const results: [string, ToolResult][] = [
  ['a success', successResult({ number: 1, text: 'ü \u2028 "quoted"' }, false)],
  ['untrusted content', successResult({ items: [], next_cursor: null }, true)],
  ['a failure', failureResult({ code: 'limit_exceeded', message: 'no', details: { limit: 1 } })],
];

test.each(results)('tools/call with %s: the same in both eras', async (_name, result) => {
  for (const id of [1, 0, 'a "b"', '']) {
    const legacy = {
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'alpha_send_note', arguments: { text: 'x' } },
    };
    const modern = { ...legacy, params: { ...legacy.params, _meta: META } };
    for (const [message, headers] of [
      [legacy, { ...PLAIN, 'mcp-protocol-version': '2025-06-18' }],
      [legacy, PLAIN],
      [modern, modernHeaders('tools/call', 'alpha_send_note')],
    ] as [JsonObject, Record<string, string>][]) {
      const fast = readFast(message, headers);
      if (fast === undefined) throw new Error('this request should take the short way');
      expect({ status: 200, body: JSON.parse(answers.call(fast, result)) }).toEqual(
        await throughSdk(message, headers, result),
      );
    }
  }
});

const textOf = ({ head, tail }: ListBody) => `${head}${tail}`;

test('tools/list: the same in both eras', async () => {
  const legacy = { jsonrpc: '2.0', id: 5, method: 'tools/list' };
  for (const [message, headers] of [
    [legacy, { ...PLAIN, 'mcp-protocol-version': '2025-03-26' }],
    [{ ...legacy, params: {} }, PLAIN],
    [{ ...legacy, params: { _meta: META } }, modernHeaders('tools/list')],
  ] as [JsonObject, Record<string, string>][]) {
    const fast = readFast(message, headers);
    if (fast === undefined) throw new Error('this request should take the short way');
    expect({ status: 200, body: JSON.parse(textOf(answers.list(fast, list))) }).toEqual(
      await throughSdk(message, headers, successResult({}, false)),
    );
  }
});

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    '',
    'x',
    null,
    [],
    {},
    0,
    -1,
    1.5,
    true,
    '2026-07-28',
    '2025-11-25',
    'tools/list',
    undefined,
  ),
  fc.jsonValue({ maxDepth: 1 }),
);

/** Bends a right request in up to three places. */
const bent = fc.record({
  era: fc.constantFrom('modern', 'legacy'),
  method: fc.constantFrom('tools/call', 'tools/list'),
  changes: fc.array(
    fc.tuple(
      fc.constantFrom(
        ...['jsonrpc', 'id', 'method', 'params', 'extra', 'params.name', 'params.arguments', 'params._meta'],
        ...['params.cursor', 'params.requestState', 'params.inputResponses', 'params._meta.progressToken'],
        'params._meta.io~modelcontextprotocol/protocolVersion',
        'params._meta.io~modelcontextprotocol/clientInfo',
        'params._meta.io~modelcontextprotocol/clientCapabilities',
        ...['header.mcp-protocol-version', 'header.mcp-method', 'header.mcp-name', 'header.accept'],
      ),
      odd,
    ),
    { maxLength: 3 },
  ),
});

test('whatever takes the short way, the SDK answers with a result, and the same one', async () => {
  const result = successResult({ number: 1 }, false);
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(bent, async ({ era, method, changes }) => {
      const { message, headers } = build(era, method, changes);
      const fast = readFast(message, headers);
      if (fast === undefined) return;
      taken += 1;
      const body = fast.call === null ? textOf(answers.list(fast, list)) : answers.call(fast, result);
      expect({ status: 200, body: JSON.parse(body) }).toEqual(await throughSdk(message, headers, result));
    }),
    { numRuns: 1_000 },
  );
  expect(taken).toBeGreaterThan(50);
});

function build(era: string, method: string, changes: [string, unknown][]) {
  const call = method === 'tools/call';
  const message: JsonObject = {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      ...(call ? { name: 'alpha_send_note', arguments: { text: 'x' } } : {}),
      ...(era === 'modern' ? { _meta: structuredClone(META) } : {}),
    },
  };
  const headers: Record<string, string> =
    era === 'modern' ? modernHeaders(method, call ? 'alpha_send_note' : undefined) : { ...PLAIN };
  for (const [path, value] of changes) {
    const steps = path.split('.').map((step) => step.replace('~', '.'));
    if (steps[0] === 'header') {
      if (typeof value === 'string' && /^[!-~]*$/.test(value)) headers[steps[1] as string] = value;
      continue;
    }
    let place: unknown = message;
    for (const step of steps.slice(0, -1)) place = (place as JsonObject | null | undefined)?.[step];
    if (typeof place === 'object' && place !== null)
      (place as JsonObject)[steps.at(-1) as string] = structuredClone(value);
  }
  return { message: JSON.parse(JSON.stringify(message)) as JsonObject, headers };
}
