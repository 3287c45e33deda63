// Calls that wait for a person, over two processes on one database: rules, waiting, and what is not allowed.
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testPlatform } from '../../../services/toolhub/src/mcp/test/platform.ts';
import { rpc } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { call, makeToken, PASSWORD } from '../../../services/toolhub/test/accounts.ts';
import { obtainTokens, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { approvalRig, SEND, startTwoHubs } from './approval-rig.ts';
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

describe('rules', () => {
  test('[TH-11.10] are none at first, are set whole, and name every tool that cannot wait', async () => {
    const ada = await newPerson();
    const none = { send: false, delete: false, tools: {} };
    expect(await asPerson(ada, 'GET', '/api/approvals/rules')).toMatchObject({ status: 200, body: none });
    const some = { send: false, delete: true, tools: { [SEND]: true, alpha_edit_note: false } };
    expect(await setRules(ada, some)).toMatchObject({ status: 200, body: some });
    expect((await asPerson(ada, 'GET', '/api/approvals/rules')).body).toEqual(some);
    const wrong = { ...none, tools: { alpha_get_note: true, alpha_mark_note: true, alpha_fly_note: true } };
    const refused = await setRules(ada, wrong);
    expect([refused.status, refused.body.code]).toEqual([422, 'invalid_request']);
    expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/tools/alpha_get_note',
      '/tools/alpha_mark_note',
      '/tools/alpha_fly_note',
    ]);
    expect((await asPerson(ada, 'GET', '/api/approvals/rules')).body).toEqual(some);
    expect((await setRules(ada, { send: true })).status).toBe(422);
  });

  test('[TH-11.12] an OAuth client cannot end that it has to ask', async () => {
    const ada = await newCareful();
    const client = await registerClient(hubs.here.url);
    const scope = 'tools:write account:read account:write';
    const { access_token: token } = await obtainTokens(hubs.here.url, ada, client, { scope });
    const none = { send: false, delete: false, tools: {} };
    const ended = await call(`${hubs.here.url}/api/approvals/rules`, { method: 'PUT', token, body: none });
    expect([ended.status, ended.body.code]).toEqual([403, 'person_required']);
    await waitFor({ ...ada, tools: token }, { text: 'hello' });
    const { body } = await call(`${hubs.here.url}/api/approvals?status=pending`, { token });
    expect(body).toMatchObject({ data: [{ client: { id: client.client_id } }] });
  });

  test('[TH-4.17] what would be sent is not shown to a token that only sees the account', async () => {
    const ada = await newCareful();
    const { approval_id: id } = await waitFor(ada, { text: 'for Grace alone' });
    const { token } = await makeToken(hubs.here.url, ada, { scopes: ['account:read'] });
    for (const path of ['/api/approvals', `/api/approvals/${id}`]) {
      const { status, body } = await call(hubs.here.url + path, { token });
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain('for Grace');
      const [shown = body] = (body.data as (typeof body)[] | undefined) ?? [];
      expect(shown).toMatchObject({ id, arguments: {}, arguments_cut: true });
    }
  });

  test('[TH-11.10] decide by class and by tool, in every process within a second', async () => {
    const ada = await newPerson();
    const waits = async (tool: string, url = hubs.there.url) =>
      (await send(ada, { text: tool }, { tool, url })).error?.code === 'approval_required';
    expect(await waits(SEND)).toBe(false);
    await setRules(ada, { send: true, delete: false, tools: {} });
    await withinASecond(
      () => waits(SEND),
      (answer) => expect(answer).toBe(true),
    );
    expect(
      await Promise.all(['alpha_mark_note', 'alpha_edit_note', DELETE].map((tool) => waits(tool))),
    ).toEqual([...[false, false, false]]);
    await setRules(ada, { send: false, delete: true, tools: { alpha_edit_note: false } });
    await withinASecond(
      () => waits(DELETE),
      (answer) => expect(answer).toBe(true),
    );
    expect([await waits(SEND), await waits('alpha_edit_note')]).toEqual([false, false]);
    await setRules(ada, { send: false, delete: false, tools: { [SEND]: true } });
    await withinASecond(
      () => waits(SEND),
      (answer) => expect(answer).toBe(true),
    );
    expect(await waits(DELETE)).toBe(false);
  });
});

describe('a call that waits', () => {
  test('[TH-11.11] says where a person decides, costs nothing, reaches nobody, and is audited', async () => {
    const ada = await newCareful();
    for (const era of ['modern', 'legacy'] as const) {
      const { error } = await send(ada, { text: 'hello' }, { era });
      expect(error).toMatchObject({
        code: 'approval_required',
        approval_id: expect.stringMatching(/^apr_[0-9a-z]{26}$/),
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      });
      expect(error?.approval_url).toBe(`${hubs.here.url}/approvals?id=${error?.approval_id}`);
      const leftMs = Date.parse(error?.expires_at ?? '') - time.now().getTime();
      expect(leftMs).toBeGreaterThan(23.9 * HOUR_MS);
      expect(leftMs).toBeLessThanOrEqual(24 * HOUR_MS);
    }
    expect(log.calls).toEqual([]);
    expect(await used(ada)).toBe(0);
    const { body } = await call(`${hubs.here.url}/api/audit`, { token: ada.token });
    const actions = (body as { data: { action: string; outcome: string }[] }).data.map(
      ({ action, outcome }) => `${action} ${outcome}`,
    );
    // The same call twice is one that waits.
    expect(actions.filter((line) => line === 'approval.requested success')).toHaveLength(1);
    expect(actions.filter((line) => line === 'tool.call refused')).toHaveLength(2);
  });

  test('[TH-11.12] is shown to its customer with what would be sent, and to nobody else', async () => {
    const [ada, eve] = [await newCareful(), await newCareful()];
    const long = 'x'.repeat(900);
    const { approval_id: id } = await waitFor(ada, { text: `secret ${long}`, tags: ['a'] });
    const { body } = await asPerson(ada, 'GET', '/api/approvals?status=pending');
    expect(body).toMatchObject({
      data: [
        {
          ...{ id, tool: SEND, platform: 'alpha', status: 'pending', decided_at: null, arguments_cut: false },
          arguments: { text: `secret ${long}`, tags: ['a'] },
          client: { id: expect.stringMatching(/^tok_/), name: 'test' },
        },
      ],
      next_cursor: null,
    });
    expect((await asPerson(ada, 'GET', `/api/approvals/${id}`)).body).toEqual(body.data[0]);
    expect((await asPerson(eve, 'GET', '/api/approvals')).body.data).toEqual([]);
    for (const path of ['', '/allow', '/deny']) {
      const method = path === '' ? 'GET' : 'POST';
      const answer = await asPerson(
        eve,
        method,
        `/api/approvals/${id}${path}`,
        method === 'GET' ? undefined : {},
      );
      expect(answer.status).toBe(404);
    }
    expect((await asPerson(ada, 'GET', '/api/approvals?status=odd')).status).toBe(400);
  });

  test('[TH-11.12] is decided on by a person alone, and once', async () => {
    const ada = await newCareful();
    const { approval_id: id } = await waitFor(ada, { text: 'hello' });
    for (const decision of ['allow', 'deny']) {
      const tried = await call(`${hubs.here.url}/api/approvals/${id}/${decision}`, {
        token: ada.token,
        body: {},
      });
      expect([tried.status, tried.body.code]).toEqual([403, 'person_required']);
    }
    const allowed = await asPerson(ada, 'POST', `/api/approvals/${id}/allow`, { remember: 'once' });
    expect(allowed).toMatchObject({ status: 200, body: { id, status: 'allowed' } });
    expect((await asPerson(ada, 'POST', `/api/approvals/${id}/allow`, {})).status).toBe(200);
    const late = await asPerson(ada, 'POST', `/api/approvals/${id}/deny`, {});
    expect([late.status, late.body.code]).toEqual([409, 'approval_not_pending']);
    expect((await asPerson(ada, 'POST', `/api/approvals/${id}/allow`, { remember: 'ever' })).status).toBe(
      422,
    );
  });

  test('[TH-11.16] is sealed in the database, and gone with its customer', async () => {
    const ada = await newCareful();
    await waitFor(ada, { text: 'for nobody else to read' });
    const find = () => hubs.database.query('select * from approvals where customer_id = $1', [ada.id]);
    const { rows } = await find();
    expect(JSON.stringify(rows)).not.toContain('nobody else');
    expect(
      Buffer.from((rows[0] as { sealed_arguments: Buffer }).sealed_arguments).toString('latin1'),
    ).not.toContain('nobody else');
    expect((await asPerson(ada, 'DELETE', '/api/me', { password: PASSWORD })).status).toBe(204);
    expect((await find()).rows).toEqual([]);
  });

  test('[TH-11.11] is one of a hundred at most', async () => {
    const ada = await newCareful();
    for (let first = 0; first < 100; first += 10)
      await Promise.all(
        Array.from({ length: 10 }, (_, nth) => waitFor(ada, { text: `note ${first + nth}` })),
      );
    const { error } = await send(ada, { text: 'one more' });
    expect(error).toMatchObject({ code: 'rate_limited', retry_after_seconds: expect.any(Number) });
    const page = await asPerson(ada, 'GET', '/api/approvals?status=pending&limit=60');
    const rest = await asPerson(
      ada,
      'GET',
      `/api/approvals?status=pending&limit=60&cursor=${page.body.next_cursor}`,
    );
    expect([page.body.data.length, rest.body.data.length]).toEqual([60, 40]);
    expect(rest.body.next_cursor).toBeNull();
  });

  test('[TH-11.11] waits once, however many times it comes at once', async () => {
    const ada = await newCareful();
    const asked = await Promise.all(
      Array.from({ length: 16 }, (_, nth) =>
        send(ada, { text: 'hello' }, { url: nth % 2 === 0 ? hubs.here.url : hubs.there.url }),
      ),
    );
    expect(new Set(asked.map(({ error }) => error?.approval_id)).size).toBe(1);
  });

  test('[TH-11.11] waits with others that fill 64 MiB at most', async () => {
    const ada = await newCareful();
    const { approval_id: id } = await waitFor(ada, { text: 'long' });
    // With its customer: without, a cluster would be sent all of it once for every shard.
    await hubs.database.query(
      `update approvals set sealed_arguments = convert_to(repeat('x', 64 * 1024 * 1024 - 10), 'UTF8')
       where customer_id = $1 and id = $2`,
      [ada.id, id],
    );
    expect((await send(ada, { text: 'one more' })).error?.code).toBe('rate_limited');
    await hubs.database.query('delete from approvals where id = $1', [id]);
    await waitFor(ada, { text: 'one more' });
  });
});

describe('otherwise', () => {
  test('[TH-11.15] a denied call is refused by id and by key', async () => {
    const ada = await newCareful();
    const args = { text: 'hello', idempotency_key: 'k' };
    const { approval_id } = await waitFor(ada, args);
    const denied = await asPerson(ada, 'POST', `/api/approvals/${approval_id}/deny`, {});
    expect(denied).toMatchObject({ status: 200, body: { status: 'denied' } });
    expect((await send(ada, args)).error?.code).toBe('approval_denied');
    expect((await send(ada, { ...args, approval_id })).error?.code).toBe('approval_denied');
    expect(log.calls).toEqual([]);
    expect(await used(ada)).toBe(0);
  });

  test('[TH-11.15] after 24 hours a call has waited for too long, allowed or not', async () => {
    const ada = await newCareful();
    const pending = await waitFor(ada, { text: 'one' });
    const allowed = await waitFor(ada, { text: 'two' });
    await asPerson(ada, 'POST', `/api/approvals/${allowed.approval_id}/allow`, {});
    time.advance(24 * HOUR_MS + 1_000);
    const { body } = await asPerson(ada, 'GET', '/api/approvals?status=expired');
    expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual(
      [pending.approval_id, allowed.approval_id].sort(),
    );
    const late = await asPerson(ada, 'POST', `/api/approvals/${pending.approval_id}/allow`, {});
    expect([late.status, late.body.code]).toEqual([409, 'approval_not_pending']);
    for (const [text, { approval_id }] of [
      ['one', pending],
      ['two', allowed],
    ] as const) {
      const { error } = await send(ada, { text, approval_id });
      expect(error?.code).toBe('approval_required');
      expect(error?.approval_id).not.toBe(approval_id);
    }
    expect(log.calls).toEqual([]);
  });

  test('[TH-11.10] a person who calls a tool has decided by that', async () => {
    const ada = await newCareful();
    const called = await asPerson(ada, 'POST', `/api/tools/${SEND}/call`, { arguments: { text: 'by hand' } });
    expect(called.body).toMatchObject({ is_error: false, content: { number: 1 } });
  });

  test('approval_id is an argument of tools that can wait, and of no others', async () => {
    const ada = await newPerson();
    const { body } = await rpc(hubs.here.url, ada.tools, { method: 'tools/list' });
    const having = (body.result?.tools ?? [])
      .filter(({ inputSchema }) => 'approval_id' in inputSchema.properties)
      .map(({ name }) => name);
    expect(having).toEqual([SEND, 'alpha_edit_note', DELETE]);
  });
});
