// The ladder of a tool call over real HTTP: every rung stops what it shall stop, and what was reserved is settled.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConnectorError } from '../connectors/connector.ts';
import type { InternalSession, Session } from '../customers/identity.ts';
import { platformError, testPlatform } from '../mcp/test/platform.ts';
import {
  addCustomer,
  callTool,
  createToolhubDatabase,
  customerSession,
  type Instance,
  type RpcAnswer,
  rpc,
  startInstance,
} from '../mcp/test/rig.ts';

let db: TestDatabase;
let hub: Instance;
const alpha = testPlatform('alpha');
const beta = testPlatform('beta');
const tokens = new Map<string, Session | InternalSession>();
// Limits are of a month, and none may end while the tests count up to one.
const NOW = new Date('2026-11-16T12:00:00Z');

beforeAll(async () => {
  db = await createToolhubDatabase();
  hub = await startInstance({
    databaseUrl: db.url,
    connectors: [alpha.connector, beta.connector],
    tokens,
    disconnected: new Set(['beta']),
    now: () => NOW,
  });
});

afterEach(() => {
  alpha.log.during = async () => {};
});

afterAll(async () => {
  await hub?.close();
  await db?.drop();
});

let customers = 0;
async function newCustomer(plan = 'free'): Promise<string> {
  customers += 1;
  const id = `cus_${customers}`;
  await addCustomer(db.database, id, plan);
  tokens.set(id, customerSession(id));
  return id;
}

const errorOf = (answer: RpcAnswer) => answer.body.result?.structuredContent?.error;
const send = (customer: string, args: Record<string, unknown> = { text: 'x' }) =>
  callTool(hub.url, customer, 'alpha_send_note', args);

async function auditOf(customerId: string): Promise<string[]> {
  const { rows } = await db.database.query<{ target: string; outcome: string }>(
    'select target, outcome from audit_entries where customer_id = $1 order by id',
    [customerId],
  );
  return rows.map(({ target, outcome }) => `${target} ${outcome}`);
}

async function eventsOf(customerId: string) {
  const { rows } = await db.database.query<{ type: string; data: Record<string, unknown> }>(
    'select type, data from events where customer_id = $1 order by id',
    [customerId],
  );
  return rows;
}

describe('a call that succeeds', () => {
  test('carries structured content and its text, is counted and audited', async () => {
    const id = await newCustomer();
    const { body } = await callTool(hub.url, id, 'alpha_get_note', { number: 7 });
    expect(body.result?.structuredContent).toEqual({ number: 7, text: 'note 7' });
    expect(body.result?.content).toEqual([{ type: 'text', text: '{"number":7,"text":"note 7"}' }]);
    expect(body.result?.isError).toBeUndefined();
    expect(alpha.log.calls.at(-1)).toMatchObject({ customerId: id, account: `${id}@alpha` });
    expect((await hub.billing.planState(id)).used).toBe(1);
    const usage = await hub.billing.usage({
      customerId: id,
      from: '2000-01-01',
      to: '3000-01-01',
      group: 'platform',
    });
    expect(usage).toMatchObject({ totalCalls: 1, groups: [{ key: 'alpha', calls: 1, errors: 0 }] });
    expect(await auditOf(id)).toEqual(['alpha_get_note success']);
  });

  test('tells the connector how much of its time is left', async () => {
    const left: number[] = [];
    alpha.log.during = async ({ context }) => {
      left.push(context.timeLeftMs());
    };
    await send(await newCustomer());
    expect(left).toHaveLength(1);
    // Something of the 60 s has gone by then, and nothing has been added to them.
    expect(left[0]).toBeLessThan(60_000);
  });

  test('marks what strangers wrote, and fills in the size of a page', async () => {
    const id = await newCustomer();
    const { body } = await callTool(hub.url, id, 'alpha_list_notes');
    expect(body.result?.structuredContent).toMatchObject({ untrusted_content: true });
    expect(body.result?.content?.[0]?.text).toMatch(/^The following content was written by people outside/);
    expect(alpha.log.calls.at(-1)?.args).toEqual({ limit: 20 });
  });

  test('[TH-7.4] tools of no platform are not metered', async () => {
    const id = await newCustomer();
    const { body } = await callTool(hub.url, id, 'accounts_list');
    expect(body.result?.structuredContent).toMatchObject({
      items: [{ platform: 'alpha' }],
      next_cursor: null,
    });
    await callTool(hub.url, id, 'accounts_check_health', { platform: 'beta' });
    expect((await hub.billing.planState(id)).used).toBe(0);
    expect(await auditOf(id)).toEqual(['accounts_list success', 'accounts_check_health success']);
  });
});

describe('a tool that the session does not have', () => {
  test.each(['modern', 'legacy'] as const)(
    '[TH-12.1] one that was switched off stands in the audit log, a name that no tool has does not (%s)',
    async (era) => {
      const id = await newCustomer();
      await hub.tools.switchTool(id, { name: 'alpha_get_note', enabled: false });
      for (const name of ['alpha_get_note', 'alpha_nothing']) {
        const { body } = await callTool(hub.url, id, name, { number: 1 }, { era });
        expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining(name) });
      }
      expect(await auditOf(id)).toEqual(['alpha_get_note refused']);
    },
  );
});

describe('accounts_check_health', () => {
  test('shares one look at the platforms for ten minutes, however many ask', async () => {
    const id = await newCustomer();
    const before = alpha.log.probes;
    const ask = (args: object = {}) => callTool(hub.url, id, 'accounts_check_health', { ...args });
    const first = await Promise.all(Array.from({ length: 10 }, () => ask()));
    const second = await ask({ platform: 'alpha' });
    expect(alpha.log.probes - before).toBe(1);
    const account = { platform: 'alpha', status: 'ok', message: null };
    expect(first[0]?.body.result?.structuredContent).toMatchObject({ items: [account] });
    const { checked_at } = { ...first[0]?.body.result?.structuredContent };
    expect(second.body.result?.structuredContent).toMatchObject({
      checked_at,
      cached: true,
      items: [account],
    });
    const none = await ask({ platform: 'beta' });
    expect(none.body.result?.structuredContent).toMatchObject({
      items: [{ platform: 'beta', account: null, status: 'not_connected' }],
    });
  });
});

describe('a call that fails', () => {
  test('[TH-5.7] not_connected has the address to connect at, and costs nothing', async () => {
    const id = await newCustomer();
    const answer = await callTool(hub.url, id, 'beta_get_note', { number: 1 });
    expect(answer.body.result?.isError).toBe(true);
    expect(errorOf(answer)).toMatchObject({
      code: 'not_connected',
      connect_url: `${hub.url}/connections/beta`,
    });
    expect(beta.log.calls).toEqual([]);
    expect((await hub.billing.planState(id)).used).toBe(0);
    expect(await auditOf(id)).toEqual(['beta_get_note failure']);
  });

  const failures: [string, () => unknown, Record<string, unknown>][] = [
    ['platform_error', platformError, { platform_code: 'chat_closed', message: 'The chat is closed.' }],
    [
      'rate_limited',
      () => new ConnectorError('rate_limited', 'Slow down.', { retryAfterSeconds: 7 }),
      { retry_after_seconds: 7 },
    ],
    [
      'platform_unavailable',
      () => new ConnectorError('platform_unavailable', 'Not now.', { nothingDone: true }),
      {},
    ],
    [
      'token_expired',
      () => new ConnectorError('token_expired', 'Refused.'),
      { connect_url: expect.any(String) },
    ],
    ['invalid_arguments', () => new ConnectorError('invalid_arguments', 'No such folder.'), {}],
  ];
  test.each(failures)('[TH-5.7] %s is a result, and the unit is given back', async (code, error, details) => {
    const id = await newCustomer();
    alpha.log.during = async () => {
      throw error();
    };
    expect(errorOf(await send(id))).toMatchObject({ code, ...details });
    expect((await hub.billing.planState(id)).used).toBe(0);
    const usage = await hub.billing.usage({
      customerId: id,
      from: '2000-01-01',
      to: '3000-01-01',
      group: 'tool',
    });
    expect(usage.groups).toMatchObject([{ key: 'alpha_send_note', calls: 1, errors: 1 }]);
    const event = { type: 'tool.call.failed', data: { tool: 'alpha_send_note', platform: 'alpha', code } };
    expect(await eventsOf(id)).toMatchObject(code === 'invalid_arguments' ? [] : [event]);
  });

  test('an answer that is too long to be passed on is refused, since writing it holds up everybody else', async () => {
    const id = await newCustomer();
    const get = () => callTool(hub.url, id, 'alpha_get_note', { number: 1 });
    try {
      alpha.log.note = '"'.repeat(2 * 1024 * 1024);
      expect(errorOf(await get())).toMatchObject({
        code: 'platform_error',
        platform_code: 'result_too_long',
        message: expect.stringContaining('ask for less at once'),
      });
      expect((await hub.billing.planState(id)).used).toBe(0);
      alpha.log.note = 'x'.repeat(1024 * 1024);
      expect((await get()).body.result?.structuredContent).toMatchObject({ text: alpha.log.note });
    } finally {
      alpha.log.note = null;
    }
  });

  test.each([
    ['W', 'alpha_send_note'],
    ['U', 'alpha_edit_note'],
    ['D', 'alpha_delete_note'],
    ['I', 'alpha_mark_note'],
  ])(
    'an answer that is too long says of a call of class %s that it may have been done',
    async (toolClass, tool) => {
      const id = await newCustomer();
      const key = toolClass === 'I' ? {} : { idempotency_key: 'k' };
      const before = alpha.log.calls.length;
      const write = () => callTool(hub.url, id, tool, { text: 'x', ...key });
      try {
        alpha.log.note = 'x'.repeat(2 * 1024 * 1024);
        const error = errorOf(await write());
        expect(error).toMatchObject({
          code: 'platform_unavailable',
          message: expect.stringMatching(
            /more text than one result may hold .*; what was asked for may have been done$/,
          ),
        });
        expect((await hub.billing.planState(id)).used).toBe(1);
        if (toolClass === 'I') return;
        expect(errorOf(await write())).toMatchObject({
          code: 'platform_unavailable',
          message: expect.stringContaining('look at the platform'),
        });
        expect(alpha.log.calls.length).toBe(before + 1);
      } finally {
        alpha.log.note = null;
      }
    },
  );

  test('a refusal that leaves open what was done says so to whoever asks again', async () => {
    const id = await newCustomer();
    const before = alpha.log.calls.length;
    alpha.log.during = async () => {
      throw new ConnectorError('platform_error', 'sent too much', { platformCode: 'X', outcomeOpen: true });
    };
    const write = () => callTool(hub.url, id, 'alpha_send_note', { text: 'x', idempotency_key: 'k' });
    expect(errorOf(await write())).toMatchObject({
      ...{ code: 'platform_error', message: 'sent too much; what was asked for may have been done' },
    });
    expect(errorOf(await write())).toMatchObject({
      code: 'platform_error',
      message: expect.stringContaining('Whether it was carried out is not known'),
    });
    expect(alpha.log.calls.length).toBe(before + 1);
  });

  test('an exception that is no word of a connector is logged and not shown', async () => {
    const id = await newCustomer();
    alpha.log.during = async () => {
      throw new Error('password hunter2');
    };
    const answer = await send(id);
    expect(errorOf(answer)).toMatchObject({
      code: 'internal_error',
      request_id: answer.headers.get('x-request-id'),
    });
    expect(JSON.stringify(answer.body)).not.toContain('hunter2');
    expect(hub.errors.splice(0)).toMatchObject([{ message: 'password hunter2' }]);
  });

  test('a connector that never answers is left behind', async () => {
    // An instance of its own: the calls of all other tests may take as long as a busy machine needs.
    const impatient = await startInstance({
      ...{ databaseUrl: db.url, connectors: [alpha.connector], tokens, now: () => NOW },
      callTimeoutMs: 300,
    });
    const id = await newCustomer();
    let heard: unknown;
    alpha.log.during = ({ context }) =>
      new Promise(() => context.signal.addEventListener('abort', () => (heard = context.signal.reason)));
    const answer = await callTool(impatient.url, id, 'alpha_send_note', { text: 'x' });
    await impatient.close();
    expect(errorOf(answer)).toMatchObject({ code: 'platform_unavailable' });
    expect(heard).toMatchObject({ message: expect.stringContaining('did not answer') });
    expect((await hub.billing.planState(id)).used).toBe(1);
  });
});

describe('the gate', () => {
  test('[TH-5.10] stops at the limit with the way out, before the platform', async () => {
    const id = await newCustomer();
    await hub.billing.changeLimit(id, 2);
    await send(id);
    await send(id);
    const before = alpha.log.calls.length;
    const answer = await send(id);
    expect(errorOf(answer)).toMatchObject({
      code: 'limit_exceeded',
      limit: 2,
      used: 2,
      upgrade_url: `${hub.url}/billing`,
    });
    expect(errorOf(answer)?.resets_at).toBe('2026-12-01T00:00:00.000Z');
    expect(alpha.log.calls).toHaveLength(before);
    expect(await auditOf(id)).toEqual([
      'alpha_send_note success',
      'alpha_send_note success',
      'alpha_send_note refused',
    ]);
    await expect.poll(async () => (await eventsOf(id)).length).toBe(2);
    const told = await eventsOf(id);
    expect(told.map(({ type, data }) => [type, data.threshold_percent, data.used])).toEqual([
      ['usage.threshold', 80, 2],
      ['usage.threshold', 100, 2],
    ]);
  });

  test('[TH-7.3] a failed call frees its place for the next', async () => {
    const id = await newCustomer();
    await hub.billing.changeLimit(id, 1);
    alpha.log.during = async () => {
      throw platformError();
    };
    for (let round = 0; round < 3; round += 1) expect(errorOf(await send(id))?.code).toBe('platform_error');
    alpha.log.during = async () => {};
    expect(errorOf(await send(id))).toBeUndefined();
    expect(errorOf(await send(id))?.code).toBe('limit_exceeded');
  });

  test('[TH-5.10] too many at once: rate_limited with the time to wait, and nothing runs', async () => {
    const limited = await startInstance({
      databaseUrl: db.url,
      connectors: [alpha.connector],
      tokens,
      ratePerSecond: 2,
    });
    try {
      const id = await newCustomer();
      const before = alpha.log.calls.length;
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => callTool(limited.url, id, 'alpha_get_note', { number: 1 })),
      );
      const refused = answers.map(errorOf).filter((error) => error !== undefined);
      expect(answers.length - refused.length).toBe(4);
      for (const error of refused)
        expect(error).toMatchObject({ code: 'rate_limited', retry_after_seconds: 1 });
      expect(alpha.log.calls).toHaveLength(before + 4);
      expect((await auditOf(id)).filter((entry) => entry === 'alpha_get_note refused')).toHaveLength(6);
      expect((await rpc(limited.url, id, { method: 'tools/list' })).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});

describe('cancellation', () => {
  async function hangingCall(start: (signal: AbortSignal) => Promise<unknown>) {
    let running: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      running = resolve;
    });
    let canceled: (reason: unknown) => void = () => {};
    const heard = new Promise((resolve) => {
      canceled = resolve;
    });
    alpha.log.during = ({ context }) => {
      running();
      return new Promise((_resolve, reject) => {
        context.signal.addEventListener('abort', () => {
          canceled(context.signal.reason);
          reject(context.signal.reason);
        });
      });
    };
    const controller = new AbortController();
    const call = start(controller.signal).catch((error: unknown) => error);
    await started;
    return { controller, call, heard };
  }

  async function cancel(door: Instance, customer: string, requestId: number): Promise<void> {
    const answer = await fetch(`${door.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${customer}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
    });
    expect(answer.status).toBe(202);
  }

  test('a call that waits for another with its idempotency_key ends as canceled, and is audited', async () => {
    const id = await newCustomer();
    const args = { text: 'x', idempotency_key: 'k' };
    const first = await hangingCall((signal) => callTool(hub.url, id, 'alpha_send_note', args, { signal }));
    let answer: RpcAnswer | undefined;
    const params = { name: 'alpha_send_note', arguments: args };
    const second = rpc(hub.url, id, { id: 42, method: 'tools/call', params }, { era: 'legacy' }).then(
      (given) => {
        answer = given;
      },
    );
    await expect
      .poll(async () => {
        await cancel(hub, id, 42);
        return answer && errorOf(answer)?.code;
      })
      .toBe('canceled');
    await second;
    expect(await auditOf(id)).toEqual(['alpha_send_note refused']);
    first.controller.abort();
    await first.call;
    await expect.poll(() => auditOf(id)).toEqual(['alpha_send_note refused', 'alpha_send_note failure']);
  });

  test.each(['modern', 'legacy'] as const)('%s: a client that goes away stops the connector', async (era) => {
    const id = await newCustomer();
    const { controller, call, heard } = await hangingCall((signal) =>
      callTool(hub.url, id, 'alpha_send_note', { text: 'x' }, { era, signal }),
    );
    controller.abort();
    expect(await heard).toMatchObject({ message: 'The client is gone.' });
    await call;
    await expect.poll(() => auditOf(id)).toEqual(['alpha_send_note failure']);
    expect((await hub.billing.planState(id)).used).toBe(1);
  });

  test('in the eras with a handshake, by a notification, also over another process', async () => {
    const other = await startInstance({ databaseUrl: db.url, connectors: [alpha.connector], tokens });
    try {
      for (const door of [hub, other]) {
        const id = await newCustomer();
        const { call, heard } = await hangingCall(() =>
          rpc(
            hub.url,
            id,
            { id: 41, method: 'tools/call', params: { name: 'alpha_send_note', arguments: { text: 'x' } } },
            { era: 'legacy' },
          ),
        );
        await cancel(door, id, 41);
        expect(await heard).toMatchObject({ message: 'The client canceled the call.' });
        expect(errorOf((await call) as RpcAnswer)).toMatchObject({ code: 'canceled' });
      }
    } finally {
      await other.close();
    }
  });
});
