// While the server of one tenant is away, another's payments go all their way: accepted, sent, answered, completed, told of.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { payment } from '../contract/payments/paying.ts';
import { type Receiver, startReceiver } from '../contract/payments/receiver.ts';
import { type WiredServer, type Wires, wireServers } from './worker-wires.ts';

type Organisation = Awaited<ReturnType<Harness['organisation']>>;

let harness: Harness;
let receiver: Receiver;
let wires: Wires;
let away: WiredServer;
let ofAway: Organisation;
let ofThere: Organisation;
let keys = 0;

beforeAll(async () => {
  receiver = await startReceiver();
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '1' } });
  wires = await wireServers(harness.testDatabase.database);
  const [first, second] = wires.servers as [WiredServer, WiredServer];
  away = first;
  [ofAway, ofThere] = [await organisationOn(first), await organisationOn(second)];
});
afterEach(() => away.comeBack());
afterAll(async () => {
  await harness.stop();
  await wires.stop();
  await receiver.stop();
});

const ORGANISATIONS_MAX = 100;

async function organisationOn({ name }: WiredServer): Promise<Organisation> {
  for (let tried = 0; tried < ORGANISATIONS_MAX; tried += 1) {
    const organisation = await harness.organisation();
    const tenantId = `${organisation.id}.test`;
    if ((await harness.testDatabase.database.serverOf(tenantId)) === name) return organisation;
  }
  throw new Error(`no organisation has its rows on server ${name}`);
}

/** Without the check of the reference, which says nothing of a database that is away. */
async function ask(method: string, path: string, key: string, body?: object) {
  keys += 1;
  const response = await fetch(`${harness.url}${path}`, {
    method,
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      'idempotency-key': `key ${keys}`,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by the tests.
  return { status: response.status, body: (await response.json()) as any };
}

const pay = async ({ test: key }: Organisation): Promise<string> => {
  const { status, body } = await ask('POST', '/v1/payments', key, payment({ rail: 'rtp' }));
  expect(status).toBe(202);
  return body.id;
};

const stateOf = async ({ test: key }: Organisation, id: string) =>
  (await ask('GET', `/v1/payments/${id}`, key)).body.status;

const toldOf = (path: string) =>
  receiver
    .at(path)
    .filter(({ body }) => body.type === 'payment.completed')
    .map(({ body }) => body.data.id);

/** A method that holds money of its own, so that what is paid from it passes through no network. */
async function openBalance({ test: key }: Organisation): Promise<object> {
  const { body } = await ask('POST', '/v1/payment_methods', key, { type: 'balance' });
  await ask('POST', `/v1/sandbox/payment_methods/${body.id}/fund`, key, { amount: 50_000 });
  return { payment_method_id: body.id };
}

test.each([
  ['is stopped', () => away.stop()],
  ['stands still', () => away.freeze()],
])(
  'payments of others complete, and are told of, while a server %s; its own when it is back',
  async (how, leave) => {
    const paths = [`/away ${how}`, `/there ${how}`].map(encodeURI) as [string, string];
    for (const [index, organisation] of [ofAway, ofThere].entries())
      await ask('POST', '/v1/webhook_endpoints', organisation.test, { url: receiver.url + paths[index] });
    const [source, destination] = [await openBalance(ofThere), await openBalance(ofThere)];
    const before = await pay(ofAway);
    leave();
    for (let round = 0; round < 3; round += 1) {
      const id = await pay(ofThere);
      await expect.poll(() => stateOf(ofThere, id), { timeout: 8_000 }).toBe('completed');
      await expect.poll(() => toldOf(paths[1]), { timeout: 8_000 }).toContain(id);
      // Between balances no network is asked.
      const booked = await ask('POST', '/v1/payments', ofThere.test, payment({ source, destination }));
      expect(booked.status).toBe(202);
      await expect.poll(() => stateOf(ofThere, booked.body.id), { timeout: 8_000 }).toBe('completed');
    }
    away.comeBack();
    await expect.poll(() => stateOf(ofAway, before)).toBe('completed');
    await expect.poll(() => toldOf(paths[0])).toContain(before);
    expect(toldOf(paths[0]).filter((id) => id === before)).toHaveLength(1);
  },
);
