// Which calls cost a unit: those that were carried out, and those of which nobody knows whether they were.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import type { TestDatabase } from '@libs/db/testing';
import { freePort } from '@libs/runtime/testing';
import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Connector, ConnectorError, defineConnector, defineTool } from '../connectors/connector.ts';
import { createVendorApi } from '../connectors/vendor-api/request.ts';
import type { OpenResult } from '../credentials/credential.ts';
import type { InternalSession, Session } from '../customers/identity.ts';
import {
  addCustomer,
  callTool,
  createToolhubDatabase,
  customerSession,
  type Instance,
  startInstance,
} from '../mcp/test/rig.ts';

/** What the vendor does with a request that has arrived. */
type Behaviour =
  | 'answer'
  | 'refuse'
  | 'expire'
  | 'fail'
  | 'rest'
  | 'vanish'
  | 'break'
  | 'lose'
  | 'slow'
  | 'cut'
  | 'hang';

let db: TestDatabase;
let hub: Instance;
let vendor: Server;
let closedPort: number;
let behaviour: Behaviour = 'answer';
/** What it does with the first requests, each in its turn, before it behaves as said. */
let atFirst: Behaviour[] = [];
let arrived = 0;
let customers = 0;
/** What becomes of a token that the vendor refused. */
let renewal: () => Promise<OpenResult>;
const sockets = new Set<Socket>();
const tokens = new Map<string, Session | InternalSession>();

const answers: Record<Exclude<Behaviour, 'cut' | 'hang'>, string> = {
  answer: 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
  refuse: 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n',
  expire: 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n',
  fail: 'HTTP/1.1 503 Unavailable\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{"error":"too full"}',
  rest: 'HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n',
  vanish: 'HTTP/1.1 503 Backend fetch failed\r\nretry-after: 5\r\ncontent-length: 6\r\n\r\n<html>',
  break: 'HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n',
  lose: 'HTTP/1.1 504 Gateway Timeout\r\ncontent-length: 0\r\n\r\n',
  slow: 'HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n',
};

beforeAll(async () => {
  vendor = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('data', () => {
      arrived += 1;
      vendor.emit('arrived');
      const now = atFirst.shift() ?? behaviour;
      if (now === 'cut') socket.destroy();
      else if (now !== 'hang') socket.write(answers[now]);
    });
  }).listen(0, '127.0.0.1');
  await once(vendor, 'listening');
  closedPort = await freePort();
  const { port } = vendor.address() as AddressInfo;
  db = await createToolhubDatabase();
  hub = await startInstance({
    databaseUrl: db.url,
    connectors: [postOffice(port)],
    tokens,
    egressAllow: [`127.0.0.1:${port}`, `127.0.0.1:${closedPort}`],
    callTimeoutMs: 1_500,
    openAfterRefusal: () => renewal(),
  });
});

afterAll(async () => {
  await hub.close();
  await db.drop();
  for (const socket of sockets) socket.destroy();
  vendor.close();
});

beforeEach(() => {
  behaviour = 'answer';
  atFirst = [];
  arrived = 0;
  renewal = async () => ({ kind: 'token_expired' });
});

function postOffice(port: number): Connector {
  const callPost = createVendorApi<unknown>({
    title: 'Post',
    baseUrl: () => `http://127.0.0.1:${port}`,
    headers: () => ({}),
    secrets: () => [],
    explain: () => undefined,
  });
  return defineConnector({
    id: 'post',
    title: 'Post office',
    auth: { kind: 'token', credentialSchema: Type.Object({}), secretFields: [], accountLabel: () => 'me' },
    tools: [
      defineTool({
        name: 'post_send_letter',
        title: 'Send a letter',
        description: 'Posts a letter.',
        class: 'W',
        inputSchema: Type.Object(
          { closed: Type.Optional(Type.Boolean()), then_closed: Type.Optional(Type.Boolean()) },
          { additionalProperties: false },
        ),
        outputSchema: Type.Object({}, { additionalProperties: false }),
        async run(args, context) {
          const to = args.closed === true ? closedPort : port;
          const answer = await context.fetch(`http://127.0.0.1:${to}/`, { method: 'POST', body: 'x' });
          if (answer.status >= 500)
            throw new ConnectorError('platform_unavailable', 'it answered 503', { nothingDone: true });
          if (answer.status === 401) throw new ConnectorError('token_expired', 'the token is over');
          if (!answer.ok) throw new ConnectorError('platform_error', 'it refused', { platformCode: '403' });
          if (args.then_closed === true) await context.fetch(`http://127.0.0.1:${closedPort}/`);
          return {};
        },
      }),
      ...(['W', 'R'] as const).map((toolClass) =>
        defineTool({
          name: toolClass === 'R' ? 'post_track_parcel' : 'post_send_parcel',
          title: 'Parcels',
          description: 'A vendor that does a repeat at most once, under the key that it is given.',
          class: toolClass,
          inputSchema: Type.Object({}, { additionalProperties: false }),
          outputSchema: Type.Object({}, { additionalProperties: false }),
          async run(_args, context) {
            const send = { method: 'POST', repeatable: context.idempotencyKey !== null } as const;
            await callPost(context, { path: '/', ...(toolClass === 'R' ? {} : send) });
            return {};
          },
        }),
      ),
    ],
    verify: async () => ({ kind: 'accepted', account: 'me' }),
    health: async () => ({ status: 'ok', message: null }),
  });
}

async function newCustomer(limit = 1_000): Promise<string> {
  customers += 1;
  const id = `cus_${customers}`;
  await addCustomer(hub.database, id);
  await hub.billing.changeLimit(id, limit);
  tokens.set(id, customerSession(id));
  return id;
}

const send = (id: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
  callTool(hub.url, id, 'post_send_letter', args, signal === undefined ? {} : { signal });
const usedBy = async (id: string) => (await hub.billing.planState(id)).used;

describe('the unit of a call', () => {
  test.each<[string, Behaviour, Record<string, unknown>, number]>([
    ['that was carried out is kept', 'answer', {}, 1],
    ['that the platform refused is given back', 'refuse', {}, 0],
    ['whose token the platform refused is given back', 'expire', {}, 0],
    ['that the platform was not available for is given back', 'fail', {}, 0],
    ['that found no connection is given back', 'answer', { closed: true }, 0],
    ['that was cut after it had left is kept', 'cut', {}, 1],
    ['that was never answered is kept', 'hang', {}, 1],
  ])('[TH-7.13] %s', async (_what, how, args, used) => {
    const id = await newCustomer();
    behaviour = how;
    await send(id, args);
    expect(await usedBy(id)).toBe(used);
  });

  test('[TH-7.13] a call that ends while its refused token is renewed costs nothing, and its key is free', async () => {
    const id = await newCustomer();
    behaviour = 'expire';
    renewal = () => new Promise(() => {});
    const answer = await send(id, { idempotency_key: 'renewing' });
    expect(answer.body.result?.structuredContent?.error).toMatchObject({ code: 'platform_unavailable' });
    expect(await usedBy(id)).toBe(0);
    behaviour = 'answer';
    const again = await send(id, { idempotency_key: 'renewing' });
    expect(again.body.result?.isError).not.toBe(true);
    expect([arrived, await usedBy(id)]).toEqual([2, 1]);
  });

  test.each<[string, Behaviour, Record<string, unknown>]>([
    ['that is told to slow down', 'slow', { retry_after_seconds: 7 }],
    ['whose token is refused', 'expire', {}],
    ['that is refused', 'refuse', { platform_code: '403' }],
    ['that the platform fails', 'fail', {}],
    ['that breaks at the platform', 'break', {}],
  ])(
    '[TH-7.13] [TH-5.9] a cut before a repeat %s stays open: the unit is kept, the key sends nothing again',
    async (_what, then, details) => {
      const id = await newCustomer();
      atFirst = ['cut', then];
      const first = await callTool(hub.url, id, 'post_send_parcel', { idempotency_key: 'k' });
      expect(first.body.result?.structuredContent?.error).toMatchObject({
        ...{ code: 'platform_unavailable', ...details },
      });
      const again = await callTool(hub.url, id, 'post_send_parcel', { idempotency_key: 'k' });
      expect(again.body.result?.structuredContent?.error).toMatchObject({
        ...{ code: 'platform_unavailable', message: expect.stringContaining('is not known') },
      });
      expect([arrived, await usedBy(id)]).toEqual([2, 1]);
    },
  );

  test.each<[Behaviour, 'is free, and its unit is back' | 'sends nothing again, and its unit is kept']>([
    ['fail', 'is free, and its unit is back'],
    ['rest', 'is free, and its unit is back'],
    ['slow', 'is free, and its unit is back'],
    ['vanish', 'sends nothing again, and its unit is kept'],
    ['break', 'sends nothing again, and its unit is kept'],
    ['lose', 'sends nothing again, and its unit is kept'],
  ])('[TH-7.13] [TH-5.9] the key of a change that was answered by “%s” %s', async (how, what) => {
    const id = await newCustomer();
    const send = () => callTool(hub.url, id, 'post_send_parcel', { idempotency_key: 'k' });
    behaviour = how;
    await send();
    behaviour = 'answer';
    const sentBefore = arrived;
    const usedBefore = await usedBy(id);
    const { result } = (await send()).body;
    const isFree = what === 'is free, and its unit is back';
    expect(result?.isError === true).toBe(!isFree);
    if (!isFree)
      expect(result?.structuredContent?.error?.message).toContain('Whether it was carried out is not known');
    expect([usedBefore, arrived - sentBefore, await usedBy(id)]).toEqual(isFree ? [0, 1, 1] : [1, 0, 1]);
  });

  test.each<Behaviour>(['cut', 'hang', 'break', 'lose', 'vanish'])(
    '[TH-5.7] what may have been done is told to whoever would do it again: a change that met “%s”, not a read',
    async (how) => {
      const id = await newCustomer();
      behaviour = how;
      const saidOf = async (tool: string) =>
        (await callTool(hub.url, id, tool, {})).body.result?.structuredContent?.error;
      const told = expect.stringMatching(/; what was asked for may have been done$/);
      expect(await saidOf('post_send_parcel')).toMatchObject({ code: 'platform_unavailable', message: told });
      expect(await saidOf('post_track_parcel')).not.toMatchObject({ message: told });
    },
  );

  test('[TH-7.13] a read that was cut and then refused has done nothing', async () => {
    const id = await newCustomer();
    atFirst = ['cut', 'slow'];
    const read = await callTool(hub.url, id, 'post_track_parcel', {});
    expect(read.body.result?.structuredContent?.error).toMatchObject({ code: 'rate_limited' });
    expect([arrived, await usedBy(id)]).toEqual([2, 0]);
  });

  test.each<[string, Behaviour, string, number]>([
    ['a sending that a gateway lost is kept', 'lose', 'post_send_parcel', 1],
    ['a sending that broke at the platform is kept', 'break', 'post_send_parcel', 1],
    ['a sending that the platform says it is not available for is given back', 'fail', 'post_send_parcel', 0],
    ['a sending that a gateway says nobody was available for is kept', 'vanish', 'post_send_parcel', 1],
    ['a read that a gateway says nobody was available for is given back', 'vanish', 'post_track_parcel', 0],
    ['a read that broke at the platform is given back', 'break', 'post_track_parcel', 0],
    ['a read that a gateway lost is given back', 'lose', 'post_track_parcel', 0],
  ])('[TH-7.13] the unit of %s', async (_what, how, tool, used) => {
    const id = await newCustomer();
    behaviour = how;
    const answer = await callTool(hub.url, id, tool, {});
    expect(answer.body.result?.structuredContent?.error).toMatchObject({ code: 'platform_unavailable' });
    expect(await usedBy(id)).toBe(used);
  });

  test('[TH-7.13] hanging up is no way around the limit', async () => {
    const id = await newCustomer(3);
    behaviour = 'hang';
    for (let n = 0; n < 10; n += 1) {
      const controller = new AbortController();
      const arrival = once(vendor, 'arrived');
      const call = send(id, {}, controller.signal).catch(() => undefined);
      // The limit answers at once, a call that passed it hangs at the platform.
      await Promise.race([call, arrival]);
      controller.abort();
      await call;
    }
    expect(arrived).toBe(3);
    await expect.poll(() => usedBy(id)).toBe(3);
  });

  test('[TH-5.9] what the platform refused is told again under its key, word for word', async () => {
    const id = await newCustomer();
    behaviour = 'refuse';
    const [first, again] = [
      await send(id, { idempotency_key: 'no' }),
      await send(id, { idempotency_key: 'no' }),
    ];
    expect(first.body.result?.structuredContent?.error).toMatchObject({
      ...{ code: 'platform_error', message: 'it refused' },
    });
    expect(again.body.result).toEqual(first.body.result);
    expect(arrived).toBe(1);
  });

  test('[TH-7.13] a key whose call found no connection is free, one that was cut or half done is not', async () => {
    const id = await newCustomer();
    const first = await send(id, { closed: true, idempotency_key: 'k' });
    expect(first.body.result?.structuredContent?.error).toMatchObject({ code: 'platform_unavailable' });
    behaviour = 'cut';
    await send(id, { idempotency_key: 'cut' });
    behaviour = 'answer';
    await send(id, { then_closed: true, idempotency_key: 'half done' });
    const { rows: taken } = await db.database.query<{ key: string }>(
      'select key from idempotent_calls where customer_id = $1 order by key',
      [id],
    );
    expect(taken).toEqual([{ key: 'cut' }, { key: 'half done' }]);
    expect(await usedBy(id)).toBe(2);
    const again = await send(id, { idempotency_key: 'cut' });
    expect(again.body.result?.structuredContent?.error).toMatchObject({ code: 'platform_unavailable' });
    expect(arrived).toBe(2);
  });
});
