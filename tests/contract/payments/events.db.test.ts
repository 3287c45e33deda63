// Events that are listed, and events as they happen: in order, each once, whatever process tells of them and however often the line breaks.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STREAMS_PER_KEY_MAX, STREAMS_PER_TENANT_MAX } from '../../../services/payments/src/events/stream.ts';
import { type Harness, type Instance, startHarness, startInstance } from './harness.ts';

let harness: Harness;
let second: Instance;
let keys = 0;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0' } });
  second = await harness.another();
});
afterAll(() => harness.stop());

interface Message {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: events are looked into freely by the tests.
  data: any;
}

/** A client as they are: it reads lines until it is told to stop, and knows the last id. */
function listen(url: string, key: string, lastEventId?: string) {
  const stop = new AbortController();
  const messages: Message[] = [];
  let open = (_status: number) => {};
  /** The answer's status; from then on the stream tells of what happens. */
  const opened = new Promise<number>((resolve) => {
    open = resolve;
  });
  const done = (async () => {
    const response = await fetch(`${url}/v1/events/stream`, {
      headers: {
        authorization: `Bearer ${key}`,
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      signal: stop.signal,
    });
    open(response.status);
    let text = '';
    try {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const fields = Object.fromEntries(
            text
              .slice(0, end)
              .split('\n')
              .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
          );
          text = text.slice(end + 2);
          if (fields.id)
            messages.push({ id: fields.id, event: fields.event ?? '', data: JSON.parse(fields.data ?? '') });
        }
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
    return response;
  })();
  done.catch(() => {});
  return {
    messages,
    opened,
    done,
    async stop() {
      stop.abort();
      await done.catch(() => {});
    },
  };
}

function pay(key: string, on: Instance = harness) {
  keys += 1;
  return on.call('POST', '/v1/payments', {
    key,
    headers: { 'idempotency-key': `stream ${keys}` },
    body: {
      ...{ amount: 100, currency: 'USD', rail: 'rtp' },
      source: { payment_method_id: 'pm_a' },
      destination: { payment_method_id: 'pm_b' },
    },
  });
}

async function allEvents(key: string) {
  const { body } = await harness.call('GET', '/v1/events?limit=100', { key });
  return new Map<string, unknown>(body.data.map((event: { id: string }) => [event.id, event]));
}

describe('events', () => {
  test('[P-8.12] [P-10.9] are listed, read and filtered', async () => {
    const { test: key } = await harness.organisation();
    const call = (method: string, path: string, body?: unknown) =>
      harness.call(method, path, { key, ...(body === undefined ? {} : { body }) });
    const cause = async () => (await call('POST', '/v1/payment_methods', { type: 'balance' })).body;
    const one = await cause();
    const two = await cause();
    await call('DELETE', `/v1/payment_methods/${one.id}`);
    const list = async (query: string) =>
      (await call('GET', `/v1/events${query}`)).body.data.map(
        (event: { type: string; data: { id: string } }) => [event.type, event.data.id],
      );
    const [created, deleted] = ['payment_method.created', 'payment_method.deleted'];
    expect(await list('')).toEqual([
      [deleted, one.id],
      [created, two.id],
      [created, one.id],
    ]);
    expect(await list(`?type=${created}`)).toEqual([
      [created, two.id],
      [created, one.id],
    ]);
    expect(await list(`?object_id=${one.id}&type=${deleted}`)).toEqual([[deleted, one.id]]);
    expect((await call('GET', '/v1/events?type=payment.exploded')).status).toBe(400);
    const { data } = (await call('GET', `/v1/events?object_id=${two.id}`)).body;
    const read = await call('GET', `/v1/events/${data[0].id}`);
    expect(read.body).toEqual({
      id: data[0].id,
      object: 'event',
      type: created,
      timestamp: expect.stringMatching(/Z$/),
      mode: 'test',
      created_at: expect.stringMatching(/Z$/),
      data: two,
    });
    expect((await call('GET', '/v1/events/evt_nothing')).status).toBe(404);
  });
});

test('[P-8.14] a stream tells of every event as it happens, as the API shows it, and of no other tenant', async () => {
  const { test: key } = await harness.organisation();
  const { test: stranger } = await harness.organisation();
  const [first, other] = [listen(harness.url, key), listen(second.url, key)];
  await Promise.all([first.opened, other.opened]);
  const paid = (await pay(key)).body;
  await pay(stranger, second);
  const types = (messages: readonly Message[]) =>
    messages.filter(({ data }) => data.data.id === paid.id).map(({ event }) => event);
  for (const client of [first, other]) {
    await expect
      .poll(() => types(client.messages))
      .toEqual(['payment.pending', 'payment.processing', 'payment.completed']);
    const shown = await allEvents(key);
    for (const { id, event, data } of client.messages) {
      expect(data).toEqual(shown.get(id));
      expect(data.type).toBe(event);
    }
    await client.stop();
  }
});

test('[P-8.15] a stream that breaks again and again loses nothing and tells nothing twice, over processes and a restart', async () => {
  const { test: key } = await harness.organisation();
  const first = (await pay(key)).body;
  await expect
    .poll(async () => (await harness.call('GET', `/v1/payments/${first.id}`, { key })).body.status)
    .toBe('completed');
  const begin = [...(await allEvents(key)).keys()].sort()[0] as string;
  const told: string[] = [begin];
  let sending = true;
  const payments = (async () => {
    for (let round = 0; round < 12; round += 1) {
      await Promise.all([pay(key), pay(key, second), pay(key), pay(key, second)]);
    }
    sending = false;
  })();
  let restarted = await startInstance(harness.testDatabase, { env: { PAYMENTS_ROLE: 'api' } });
  for (let turn = 0; sending || turn < 6; turn += 1) {
    const url = [harness.url, second.url, restarted.url][turn % 3] as string;
    const client = listen(url, key, told.at(-1));
    await new Promise((resolve) => setTimeout(resolve, 40 + 60 * (turn % 4)));
    if (turn % 3 === 2) {
      // The process stops while it tells.
      await restarted.stop();
      restarted = await startInstance(harness.testDatabase, { env: { PAYMENTS_ROLE: 'api' } });
    }
    await client.stop();
    told.push(...client.messages.map(({ id }) => id));
  }
  await payments;
  await restarted.stop();
  await expect
    .poll(
      async () =>
        (await harness.call('GET', '/v1/payments?status=completed&limit=100', { key })).body.data.length,
    )
    .toBe(49);
  const last = listen(harness.url, key, told.at(-1));
  const stored = async () => {
    const { rows } = await harness.database.query<{ id: string }>(
      `select id from events where subject_id like 'pay_%' and tenant_id =
         (select tenant_id from events where id = $1)`,
      [begin],
    );
    return rows.map(({ id }) => id);
  };
  const wanted = new Set(await stored());
  const seen = () => [...told, ...last.messages.map(({ id }) => id)].filter((id) => wanted.has(id));
  await expect.poll(() => seen().length).toBe(wanted.size);
  await last.stop();
  expect(new Set(seen()).size).toBe(wanted.size);
}, 60_000);

test('[P-8.16] a stream ends with its key, and with the test mode that it told of', async () => {
  const { test: key, keyIds } = await harness.organisation();
  const client = listen(harness.url, key);
  await client.opened;
  await harness.call('DELETE', `/v1/admin/keys/${keyIds.test}`, { key: 'admin_token_of_the_tests' });
  await client.done;
  const { test: another } = await harness.organisation();
  const reset = listen(second.url, another);
  await reset.opened;
  await harness.call('POST', '/v1/sandbox/reset', { key: another });
  await reset.done;
});

test('[P-8.16] an organisation with many keys takes no places of others, and its other mode has its own', async () => {
  const { id, live } = await harness.organisation();
  const keys = await Promise.all(
    Array.from({ length: STREAMS_PER_TENANT_MAX / STREAMS_PER_KEY_MAX + 1 }, () =>
      harness.key(id, { mode: 'test' }),
    ),
  );
  const [last, ...others] = keys.map(({ key }) => key);
  const clients = others.flatMap((key) =>
    Array.from({ length: STREAMS_PER_KEY_MAX }, () => listen(harness.url, key)),
  );
  const statusesOf = async (those: typeof clients) =>
    new Set(await Promise.all(those.map(({ opened }) => opened)));
  expect(await statusesOf(clients)).toEqual(new Set([200]));
  const refused = await harness.call('GET', '/v1/events/stream', { key: last as string });
  expect([refused.status, refused.body.code]).toEqual([429, 'too_many_streams']);
  const { test: stranger } = await harness.organisation();
  const welcome = [listen(harness.url, live), listen(harness.url, stranger)];
  expect(await statusesOf(welcome)).toEqual(new Set([200]));
  await Promise.all([...clients, ...welcome].map((client) => client.stop()));
});

test('[P-8.16] who hangs up while a stream is being opened takes no place for good', async () => {
  const { test: key } = await harness.organisation();
  const { hostname, port } = new URL(harness.url);
  const hangUpAfter = async (waitMs: number) => {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      `GET /v1/events/stream HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n\r\n`,
    );
    await sleep(waitMs);
    socket.resetAndDestroy();
  };
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: STREAMS_PER_KEY_MAX }, (_, index) => hangUpAfter(index)));
  }
  const clients = async () => {
    const opened = Array.from({ length: STREAMS_PER_KEY_MAX }, () => listen(harness.url, key));
    const statuses = await Promise.all(opened.map((client) => client.opened));
    await Promise.all(opened.map((client) => client.stop()));
    return new Set(statuses);
  };
  await expect.poll(clients, { interval: 200 }).toEqual(new Set([200]));
});

test('[P-8.16] streams per key are bounded, an unknown or old Last-Event-ID is refused, and places come free', async () => {
  const { test: key } = await harness.organisation();
  const clients = Array.from({ length: STREAMS_PER_KEY_MAX }, () => listen(harness.url, key));
  await Promise.all(clients.map(({ opened }) => opened));
  const refused = await harness.call('GET', '/v1/events/stream', { key });
  expect([refused.status, refused.body.code]).toEqual([429, 'too_many_streams']);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  await Promise.all(clients.map((client) => client.stop()));
  const resume = (id: string) =>
    harness.call('GET', '/v1/events/stream', { key, headers: { 'last-event-id': id } });
  await expect.poll(async () => (await resume('evt_nobody')).body.code).toBe('last_event_unknown');
  await pay(key);
  const [old] = [...(await allEvents(key)).keys()];
  harness.time.advance(25 * 60 * 60 * 1_000);
  const late = await resume(old as string);
  expect([late.status, late.body.code]).toEqual([422, 'last_event_unknown']);
});
