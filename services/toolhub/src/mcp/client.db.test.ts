// The official client against the endpoint, in both eras and in the mode that finds out by itself.
import type { TestDatabase } from '@libs/db/testing';
import {
  Client,
  ProtocolError,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { platformError, testPlatform } from './test/platform.ts';
import {
  addCustomer,
  createToolhubDatabase,
  customerSession,
  type Instance,
  startInstance,
} from './test/rig.ts';

let db: TestDatabase;
let hub: Instance;
const alpha = testPlatform('alpha');

beforeAll(async () => {
  db = await createToolhubDatabase();
  await addCustomer(db.database, 'cus_1');
  const tokens = new Map([['t', customerSession('cus_1')]]);
  hub = await startInstance({ databaseUrl: db.url, connectors: [alpha.connector], tokens });
});

afterEach(() => {
  alpha.log.during = async () => {};
});

afterAll(async () => {
  await hub?.close();
  await db?.drop();
  expect(hub.errors).toEqual([]);
});

async function connect(mode: VersionNegotiationMode): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: 'Bearer t' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp`), { requestInit }));
  return client;
}

const modes: [VersionNegotiationMode, string][] = [
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
  [{ pin: '2026-07-28' }, '2026-07-28'],
];

describe.each(modes)('mode %j', (mode, version) => {
  test('[TH-5.1] connects, lists and calls; results fit the schemas that the client checks', async () => {
    const client = await connect(mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'toolhub', title: 'Toolhub' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(hub.tools.catalogue.tools.map(({ name }) => name));
    for (const tool of tools) {
      expect(Object.values(tool.annotations ?? {}).filter((hint) => typeof hint === 'boolean')).toHaveLength(
        4,
      );
      expect([tool.title, tool.description, tool.outputSchema]).not.toContain(undefined);
    }
    const result = await client.callTool({ name: 'alpha_get_note', arguments: { number: 3 } });
    expect(result.structuredContent).toEqual({ number: 3, text: 'note 3' });
    await client.close();
  });

  test('a failure arrives as a result, an unknown tool as an error', async () => {
    const client = await connect(mode);
    await client.listTools();
    alpha.log.during = async () => {
      throw platformError();
    };
    const result = await client.callTool({ name: 'alpha_get_note', arguments: { number: 3 } });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'platform_error' } } });
    const unknown = client.callTool({ name: 'alpha_get_nothing' });
    await expect(unknown).rejects.toThrow(ProtocolError);
    await expect(unknown).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });

  test('progress comes through in order, and only forward', async () => {
    const client = await connect(mode);
    alpha.log.during = async ({ context }) => {
      for (const done of [1, 3, 2, 3, 4]) context.progress(done, 4, `step ${done}`);
    };
    const seen: unknown[] = [];
    const call = { name: 'alpha_send_note', arguments: { text: 'x' } };
    const result = await client.callTool(call, { onprogress: (progress) => seen.push(progress) });
    expect(result.isError).toBeUndefined();
    expect(seen).toEqual([1, 3, 4].map((done) => ({ progress: done, total: 4, message: `step ${done}` })));
    await client.close();
  });

  test('a call that the client cancels is canceled at the connector', async () => {
    const client = await connect(mode);
    let started: () => void = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const heard = new Promise<void>((resolve) => {
      alpha.log.during = ({ context }) => {
        started();
        return new Promise((_resolve, reject) => {
          context.signal.addEventListener('abort', () => {
            resolve();
            reject(context.signal.reason);
          });
        });
      };
    });
    const abort = new AbortController();
    const call = client.callTool(
      { name: 'alpha_send_note', arguments: { text: 'x' } },
      { signal: abort.signal },
    );
    await running;
    abort.abort();
    await expect(call).rejects.toThrow();
    await heard;
    await client.close();
  });
});

test.each(['2025-06-18', '2025-03-26'])('[TH-5.1] the handshake of %s is kept', async (version) => {
  const client = new Client({ name: 'old', version: '1' }, { supportedProtocolVersions: [version] });
  const requestInit = { headers: { authorization: 'Bearer t' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp`), { requestInit }));
  expect(client.getNegotiatedProtocolVersion()).toBe(version);
  const result = await client.callTool({ name: 'alpha_get_note', arguments: { number: 1 } });
  expect(result.structuredContent).toMatchObject({ number: 1 });
  await client.close();
});
