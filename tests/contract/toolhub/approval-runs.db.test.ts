// What a person has allowed, over two processes on one database: the run that follows, once.
import { withinASecond } from '@libs/runtime/testing';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testPlatform } from '../../../services/toolhub/src/mcp/test/platform.ts';
import { call, makeToken } from '../../../services/toolhub/test/accounts.ts';
import { ALL, approvalRig, type Person, SEND, startTwoHubs } from './approval-rig.ts';
import type { Customer } from './customer.ts';
import { createTime } from './time.ts';

const HOUR_MS = 3_600_000;
const DELETE = 'alpha_delete_note';
const time = createTime();
const { connector, log } = testPlatform('alpha');

let hubs: Awaited<ReturnType<typeof startTwoHubs>>;

beforeAll(async () => {
  hubs = await startTwoHubs(connector, time.now);
});
afterAll(() => hubs?.close());
beforeEach(() => {
  log.calls.length = 0;
  log.during = async () => {};
});

const { newPerson, newCareful, asPerson, setRules, send, waitFor, used } = approvalRig(() => hubs.here.url);

describe('after it was allowed', () => {
  const allow = async (person: Customer, id: string, remember = 'once') =>
    expect((await asPerson(person, 'POST', `/api/approvals/${id}/allow`, { remember })).status).toBe(200);

  test('[TH-11.13] the same call with approval_id runs once, however many come at once to both processes', async () => {
    const ada = await newCareful();
    const text = 'hello';
    const { approval_id } = await waitFor(ada, { text });
    expect((await send(ada, { text, approval_id })).error?.code).toBe('approval_required');
    await allow(ada, approval_id);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, nth) =>
        send(ada, { text, approval_id }, { url: nth % 2 === 0 ? hubs.here.url : hubs.there.url }),
      ),
    );
    expect(answers.map(({ content }) => content)).toEqual(Array(12).fill({ number: 1 }));
    expect(log.calls).toMatchObject([{ tool: SEND, args: { text } }]);
    expect(log.calls[0]?.args).toEqual({ text });
    expect(await used(ada)).toBe(1);
    expect((await asPerson(ada, 'GET', `/api/approvals/${approval_id}`)).body.status).toBe('used');
    // Without it, it is another call, which waits again.
    expect((await waitFor(ada, { text })).approval_id).not.toBe(approval_id);
  });

  test('[TH-11.13] the same call with the same idempotency_key runs once', async () => {
    const ada = await newCareful();
    const args = { text: 'hello', idempotency_key: 'k1' };
    const { approval_id } = await waitFor(ada, args);
    await allow(ada, approval_id);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, nth) =>
        send(ada, args, { url: nth % 2 === 0 ? hubs.here.url : hubs.there.url }),
      ),
    );
    expect(answers.map(({ content }) => content)).toEqual(Array(6).fill({ number: 1 }));
    // By the other way it is the same call still, and no second one.
    expect((await send(ada, { ...args, approval_id })).content).toEqual({ number: 1 });
    expect((await send(ada, { text: 'hello', approval_id })).error?.code).toBe('invalid_arguments');
    expect((await send(ada, { ...args, idempotency_key: 'k2', approval_id })).error?.code).toBe(
      'invalid_arguments',
    );
    expect(log.calls).toHaveLength(1);
    expect(await used(ada)).toBe(1);
  });

  test('[TH-11.13] no other call runs by it: other arguments, another tool, another client, another customer', async () => {
    const [ada, eve] = [await newCareful(), await newCareful()];
    const { approval_id } = await waitFor(ada, { text: 'hello' });
    await allow(ada, approval_id);
    const { token: tools } = await makeToken(hubs.here.url, ada, { scopes: ['tools:read', 'tools:write'] });
    const tries = [
      await send(ada, { text: 'goodbye', approval_id }),
      await send(ada, { text: 'hello', tags: ['x'], approval_id }),
      await send(ada, { text: 'hello', approval_id }, { tool: DELETE }),
      await send({ tools }, { text: 'hello', approval_id }),
      await send(eve, { text: 'hello', approval_id }),
      await send(ada, { text: 'hello', approval_id: 'apr_made_up' }),
    ];
    expect(tries.map(({ error }) => error?.code)).toEqual(Array(6).fill('invalid_arguments'));
    expect(log.calls).toEqual([]);
    expect((await send(ada, { text: 'hello', approval_id })).content).toEqual({ number: 1 });
  });

  test('[TH-11.13] the same call waits anew when the result of its run is forgotten, and runs no second time', async () => {
    const ada = await newCareful();
    for (const args of [{ text: 'by id' }, { text: 'by key', idempotency_key: 'k' }]) {
      const { approval_id } = await waitFor(ada, args);
      await allow(ada, approval_id);
      const again = 'idempotency_key' in args ? args : { ...args, approval_id };
      expect((await send(ada, again)).error).toBeUndefined();
      time.advance(24 * HOUR_MS + 1_000);
      await hubs.database.query('update idempotent_calls set expires_at = now() where customer_id = $1', [
        ada.id,
      ]);
      expect((await send(ada, again)).error?.code).toBe('approval_required');
    }
    expect(log.calls).toHaveLength(2);
  });

  test('[TH-11.13] a run that certainly did nothing may be tried again', async () => {
    const ada = await newCareful();
    const { approval_id } = await waitFor(ada, { text: 'hello' });
    await allow(ada, approval_id);
    expect((await asPerson(ada, 'DELETE', '/api/credentials/alpha')).status).toBe(204);
    await withinASecond(
      async () => (await send(ada, { text: 'hello', approval_id })).error?.code,
      (answer) => expect(answer).toBe('not_connected'),
    );
    const put = { method: 'PUT', body: {}, token: ada.token };
    expect((await call(`${hubs.here.url}/api/credentials/alpha?verify=false`, put)).status).toBe(200);
    expect((await send(ada, { text: 'hello', approval_id })).content).toEqual({ number: 1 });
    expect(await used(ada)).toBe(1);
  });

  test('[TH-11.14] for good, that client need not ask again for the tool; others must, and so must it after new rules', async () => {
    const ada = await newCareful();
    const { approval_id } = await waitFor(ada, { text: 'one' });
    await allow(ada, approval_id, 'client');
    expect((await send(ada, { text: 'one', approval_id })).content).toEqual({ number: 1 });
    expect((await send(ada, { text: 'one', approval_id })).content).toEqual({ number: 1 });
    expect((await send(ada, { text: 'two' })).content).toEqual({ number: 2 });
    await withinASecond(
      async () => (await send(ada, { text: 'three' }, { url: hubs.there.url })).error,
      (answer) => expect(answer).toBeUndefined(),
    );
    await waitFor(ada, { text: 'one' }, DELETE);
    const { token: tools } = await makeToken(hubs.here.url, ada, { scopes: ['tools:read', 'tools:write'] });
    await waitFor({ ...ada, tools }, { text: 'two' });
    await setRules(ada, ALL);
    await waitFor(ada, { text: 'four' });
  });

  test('[TH-11.14] a call that runs since nobody is asked any more is shown as run, and one that was refused stays so', async () => {
    const ada = await newCareful();
    const waiting = async (args: Record<string, unknown>) => ({
      ...args,
      approval_id: (await waitFor(ada, args)).approval_id,
    });
    const [first, second, refused, late] = [
      await waiting({ text: 'first' }),
      await waiting({ text: 'second' }),
      await waiting({ text: 'refused' }),
      await waiting({ text: 'late' }),
    ];
    const keyed = { text: 'keyed', idempotency_key: 'k' };
    const { approval_id: keyedId } = await waitFor(ada, keyed);
    await asPerson(ada, 'POST', `/api/approvals/${refused.approval_id}/deny`);
    await allow(ada, first.approval_id, 'client');
    for (const args of [first, second, keyed]) expect((await send(ada, args)).error).toBeUndefined();
    expect((await send(ada, refused)).error?.code).toBe('approval_denied');
    await setRules(ada, { send: false, delete: false, tools: {} });
    expect((await send(ada, late)).error).toBeUndefined();
    expect((await send(ada, refused)).error?.code).toBe('approval_denied');
    // By its id alone: what is another call runs as it would without one.
    expect((await send(ada, { ...refused, text: 'another' })).error).toBeUndefined();
    const statusOf = async (id: string) => (await asPerson(ada, 'GET', `/api/approvals/${id}`)).body.status;
    const ids = [first.approval_id, second.approval_id, keyedId, late.approval_id, refused.approval_id];
    expect(await Promise.all(ids.map(statusOf))).toEqual(['used', 'used', 'used', 'used', 'denied']);
    expect(log.calls).toHaveLength(5);
  });

  test('[TH-11.13] a run that did nothing while nobody was asked is no permission for one after they are asked again', async () => {
    const ada = await newCareful();
    const text = 'never allowed';
    const { approval_id } = await waitFor(ada, { text });
    await setRules(ada, { send: false, delete: false, tools: {} });
    expect((await asPerson(ada, 'DELETE', '/api/credentials/alpha')).status).toBe(204);
    await withinASecond(
      async () => (await send(ada, { text, approval_id })).error?.code,
      (answer) => expect(answer).toBe('not_connected'),
    );
    const put = { method: 'PUT', body: {}, token: ada.token };
    expect((await call(`${hubs.here.url}/api/credentials/alpha?verify=false`, put)).status).toBe(200);
    await setRules(ada, ALL);
    expect((await send(ada, { text, approval_id })).error?.code).toBe('approval_required');
    expect(log.calls).toEqual([]);
  });
});

describe('a key', () => {
  const NONE = { send: false, delete: false, tools: {} };

  test('[TH-5.9] of a call that ran while nobody had to be asked returns its result, and nobody is asked', async () => {
    const ada = await newPerson();
    const early = { text: 'early', idempotency_key: 'early' };
    expect((await send(ada, early)).content).toEqual({ number: 1 });
    await setRules(ada, ALL);
    const asked = { text: 'asked', idempotency_key: 'asked' };
    await waitFor(ada, asked);
    await setRules(ada, NONE);
    expect((await send(ada, asked)).content).toEqual({ number: 2 });
    await setRules(ada, ALL);
    expect((await send(ada, early)).content).toEqual({ number: 1 });
    expect((await send(ada, asked)).content).toEqual({ number: 2 });
    expect((await send(ada, { ...early, text: 'other' })).error).toMatchObject({
      code: 'invalid_arguments',
      errors: [{ pointer: '/idempotency_key' }],
    });
    expect(log.calls).toHaveLength(2);
    const { body } = await asPerson(ada, 'GET', '/api/approvals');
    expect(body.data).toMatchObject([{ status: 'used' }]);
    await hubs.database.query('update idempotent_calls set expires_at = now() where customer_id = $1', [
      ada.id,
    ]);
    await waitFor(ada, early);
  });

  test.each(['nobody', 'deny', 'allow'])(
    '[TH-5.9] of a call that waited for a person is free for another after 24 hours: %s',
    async (decision) => {
      const ada = await newCareful();
      const args = { text: 'one', idempotency_key: 'k' };
      const { approval_id } = await waitFor(ada, args);
      if (decision !== 'nobody')
        expect((await asPerson(ada, 'POST', `/api/approvals/${approval_id}/${decision}`, {})).status).toBe(
          200,
        );
      if (decision === 'allow') expect((await send(ada, args)).error).toBeUndefined();
      const other = { ...args, text: 'another' };
      expect((await send(ada, other)).error?.code).toBe('invalid_arguments');
      time.advance(26 * HOUR_MS);
      await hubs.database.query('update idempotent_calls set expires_at = now() where customer_id = $1', [
        ada.id,
      ]);
      await waitFor(ada, other);
    },
  );
});

describe('a client that opens addresses', () => {
  /** The official client, whose user decides on the page that it opens. */
  async function connect(person: Person, decide: (url: URL) => Promise<void>): Promise<Client> {
    const client = new Client(
      { name: 'opens addresses', version: '1' },
      { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } },
    );
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      await decide(new URL((params as { url: string }).url));
      return { action: 'accept' };
    });
    const requestInit = { headers: { authorization: `Bearer ${person.tools}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${hubs.here.url}/mcp`), { requestInit }));
    return client;
  }

  test('[TH-11.17] is asked to open the page, and its call runs when its user allowed it there', async () => {
    const ada = await newCareful();
    const opened: string[] = [];
    const client = await connect(ada, async (url) => {
      opened.push(url.pathname);
      const id = url.searchParams.get('id');
      expect((await asPerson(ada, 'POST', `/api/approvals/${id}/allow`, {})).status).toBe(200);
    });
    const result = await client.callTool({ name: SEND, arguments: { text: 'hello' } });
    expect(result.structuredContent).toEqual({ number: 1 });
    expect(opened).toEqual(['/approvals']);
    // Through the SDK's way, too, which calls that report progress take.
    const again = await client.callTool(
      { name: SEND, arguments: { text: 'with progress' } },
      { onprogress: () => {} },
    );
    expect(again.structuredContent).toEqual({ number: 2 });
    await client.close();
  });

  test('[TH-11.17] gets the error when its user has not decided there', async () => {
    const ada = await newCareful();
    const client = await connect(ada, async () => {});
    const result = await client.callTool({ name: SEND, arguments: { text: 'hello' } });
    expect(result.structuredContent).toMatchObject({ error: { code: 'approval_required' } });
    expect(log.calls).toEqual([]);
    await client.close();
  });
});
