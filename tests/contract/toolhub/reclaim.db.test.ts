// An address that somebody else signed up with, at the moment its owner comes: what that one has under way ends in nothing.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withinASecond } from '@libs/runtime/testing';
import { hashToken } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testPlatform } from '../../../services/toolhub/src/mcp/test/platform.ts';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { type Account, call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  exchange,
  obtainCode,
  obtainTokens,
  registerClient,
} from '../../../services/toolhub/test/authorization.ts';
import { ADMIN_TOKEN, type LoneInstance, startAlone } from '../../../services/toolhub/test/instance.ts';

/** Something of the outside, or of the reset itself, that takes as long as the test wants. */
function newGate() {
  const arrived = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    arrived: arrived.promise,
    open: opened.resolve,
    async pass() {
      arrived.resolve();
      await opened.promise;
    },
  };
}

const open = { ...newGate(), pass: async () => {} };
let [atPlatform, atNames, atReset] = [open, open, open];
const { connector } = testPlatform('alpha');
const slow: typeof connector = {
  ...connector,
  async verify(context) {
    await atPlatform.pass();
    return connector.verify(context);
  },
  forget: () => atReset.pass(),
};

let instance: LoneInstance;
let url: string;
beforeAll(async () => {
  instance = await startAlone({
    connectors: [slow],
    webhooks: {
      async resolveHost() {
        await atNames.pass();
        return [{ address: '93.184.216.34', family: 4 }];
      },
    },
  });
  url = instance.url;
});
afterAll(() => instance.stop());

const NEW_PASSWORD = 'the owner has come';

/** With the link of a mail, as the owner of the address has it. */
async function reset({ id }: Account) {
  const token = `thm_${randomBytes(18).toString('base64url')}`;
  await instance.database.database.query(
    `insert into mail_tokens (customer_id, id, kind, token_hash, created_at, expires_at)
     values ($1, $2, 'reset', $3, now(), now() + interval '1 hour')`,
    [id, `mtk_${id.slice('cus_'.length)}`, hashToken(token)],
  );
  return call(`${url}/api/auth/reset`, { body: { token, password: NEW_PASSWORD } });
}

const logIn = ({ email }: Account, password: string) =>
  call(`${url}/api/auth/login`, { body: { email, password } });

async function ownerOf(account: Account): Promise<(path: string) => Promise<Record<string, unknown>>> {
  const { headers } = await logIn(account, NEW_PASSWORD);
  const cookie = (headers.getSetCookie()[0] ?? '').split(';', 1)[0] as string;
  return async (path) => (await call(`${url}${path}`, { cookie })).body;
}

/** Longer than any of these takes that is not kept waiting. */
const UNDISTURBED_MS = 1_000;

test('[TH-3.9] who logs in, makes a token, redeems a code or consents while the reset runs, has nothing of it', async () => {
  const squatter = await signUp(url);
  const client = await registerClient(url);
  const { code, pkce } = await obtainCode(url, squatter, client);
  const gate = newGate();
  atReset = gate;
  const resetting = reset(squatter);
  await gate.arrived;
  const { cookie } = squatter;
  const attempts = Promise.all([
    logIn(squatter, PASSWORD).then(({ headers }) => ({
      cookie: (headers.getSetCookie()[0] ?? 'toolhub_session=none').split(';', 1)[0] as string,
    })),
    call<{ token?: string }>(`${url}/api/tokens`, {
      body: { name: 'left', scopes: ['account:read'] },
      cookie,
    }).then(({ body }) => ({ token: body.token ?? 'none' })),
    exchange(url, client, code, pkce).then(async ({ body }) => {
      const token = body.access_token ?? 'none';
      // From here on a process would remember it.
      await call(`${url}/api/me`, { token });
      return { token };
    }),
    obtainTokens(url, squatter, await registerClient(url)).then(
      async ({ access_token: token }) => {
        await call(`${url}/api/me`, { token });
        return { token };
      },
      () => ({ token: 'none' }),
    ),
  ]);
  await Promise.race([attempts, sleep(UNDISTURBED_MS)]);
  gate.open();
  expect((await resetting).status).toBe(204);
  atReset = open;
  for (const left of await attempts)
    await withinASecond(
      async () => (await call(`${url}/api/me`, left)).status,
      (status) => expect([status, Object.keys(left)]).toEqual([401, Object.keys(left)]),
    );
  const get = await ownerOf(squatter);
  expect((await get('/api/tokens')).data).toEqual([]);
  expect((await get('/api/sessions')).data).toHaveLength(1);
});

test('[TH-3.9] what waits for a platform or a name while the address is taken back is not stored', async () => {
  const squatter = await signUp(url);
  const { cookie } = squatter;
  const [platform, names] = [newGate(), newGate()];
  [atPlatform, atNames] = [platform, names];
  const connecting = call(`${url}/api/credentials/alpha`, { method: 'PUT', cookie, body: {} });
  const listening = call(`${url}/api/webhooks/config`, {
    ...{ cookie, body: { webhook_url: 'https://slow.example/ear' } },
  });
  await Promise.all([platform.arrived, names.arrived]);
  expect((await reset(squatter)).status).toBe(204);
  platform.open();
  names.open();
  [atPlatform, atNames] = [open, open];
  expect((await connecting).status).toBe(401);
  expect((await listening).status).toBe(401);
  const get = await ownerOf(squatter);
  expect((await get('/api/credentials')).data).toEqual([]);
  expect(await get('/api/webhooks/config')).toMatchObject({ status: 404 });
});

const STRANGERS_TEXT = 'Pay at evil.example';
const details = { company: STRANGERS_TEXT, address: STRANGERS_TEXT, tax_id: STRANGERS_TEXT };
const NO_DETAILS = { company: null, address: null, tax_id: null };

function monthsAgo(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)).toISOString().slice(0, 7);
}

const invoice = (period: string) =>
  call(`${url}/api/admin/invoices/run`, { body: { period }, token: ADMIN_TOKEN });

test('[TH-3.9] [TH-7.16] who takes an address back is neither mailed nor charged what somebody else ordered', async () => {
  const squatter = await signUp(url);
  const { id, email, cookie } = squatter;
  await call(`${url}/api/me`, { method: 'PATCH', cookie, body: { name: STRANGERS_TEXT } });
  await call(`${url}/api/billing-details`, { method: 'PUT', cookie, body: details });
  await call(`${url}/api/plan`, {
    ...{ method: 'PUT', cookie, body: { plan: 'scale', spend_cap_cents: 99_000 } },
  });
  const { database } = instance.database;
  const longAgo = new Date(`${monthsAgo(3)}-10T00:00:00.000Z`);
  await database.query('update customers set created_at = $2 where id = $1', [id, longAgo]);
  await database.query('update plan_changes set at = $2 where customer_id = $1', [id, longAgo]);
  expect((await invoice(monthsAgo(1))).body).toMatchObject({ created: 1, failed: 0 });
  const waiting = await database.query(
    'select status, mail_state, total_cents from invoices where customer_id = $1',
    [id],
  );
  expect(waiting.rows).toEqual([{ status: 'open', mail_state: 'waiting', total_cents: 22_900 }]);

  expect((await reset(squatter)).status).toBe(204);
  const left = await database.query(
    'select status, mail_state, mail_due_at from invoices where customer_id = $1',
    [id],
  );
  expect(left.rows).toEqual([{ status: 'void', mail_state: 'canceled', mail_due_at: null }]);
  const get = await ownerOf(squatter);
  const customer = { name: email, plan: 'free', email_verified: true };
  expect(await get('/api/me')).toMatchObject({ customer });
  expect(await get('/api/billing-details')).toMatchObject(NO_DETAILS);
  expect(await get('/api/plan')).toMatchObject({ plan: 'free', spend_cap_cents: null });
  // Neither this month nor one before it that no run has come to.
  expect(await get('/api/plan/preview?plan=free')).toMatchObject({ now: { total_cents: 0 } });
  expect((await invoice(monthsAgo(2))).body).toMatchObject({ created: 1, failed: 0 });
  const later = (await get('/api/invoices')).data as { period: string }[];
  expect(later.find(({ period }) => period === monthsAgo(2))).toMatchObject({
    ...{ total_cents: 0, bill_to: { name: email, company: null, address: null, tax_id: null } },
  });
});

test('[TH-3.9] who orders, names or addresses something while the reset runs leaves nothing of it', async () => {
  const squatter = await signUp(url);
  const { cookie, email } = squatter;
  const gate = newGate();
  atReset = gate;
  const resetting = reset(squatter);
  await gate.arrived;
  const attempts = Promise.all([
    call(`${url}/api/me`, { method: 'PATCH', cookie, body: { name: STRANGERS_TEXT } }),
    call(`${url}/api/billing-details`, { method: 'PUT', cookie, body: details }),
    call(`${url}/api/plan`, { method: 'PUT', cookie, body: { plan: 'scale' } }),
  ]);
  await Promise.race([attempts, sleep(UNDISTURBED_MS)]);
  gate.open();
  expect((await resetting).status).toBe(204);
  atReset = open;
  expect((await attempts).map(({ status }) => status)).toEqual([401, 401, 401]);
  const get = await ownerOf(squatter);
  expect(await get('/api/me')).toMatchObject({ customer: { plan: 'free', name: email } });
  expect(await get('/api/billing-details')).toMatchObject(NO_DETAILS);
});

test('[TH-3.9] [TH-11.13] who takes an address back is asked about nothing that somebody else began, and finds no choices of theirs', async () => {
  const squatter = await signUp(url);
  const { cookie } = squatter;
  const { token } = await makeToken(url, squatter);
  const put = (path: string, body: unknown) => call(`${url}${path}`, { method: 'PUT', cookie, body });
  expect((await put('/api/approvals/rules', { send: true, delete: true, tools: {} })).status).toBe(200);
  const ask = (text: string) => callTool(url, token, 'alpha_send_note', { text });
  const ids: string[] = [];
  for (const text of [STRANGERS_TEXT, 'allowed by the stranger']) {
    const waiting = (await ask(text)).body.result?.structuredContent?.error;
    ids.push(String(waiting?.approval_id));
  }
  const allowed = await call(`${url}/api/approvals/${ids[1]}/allow`, { cookie, body: { remember: 'once' } });
  expect(allowed.status).toBe(200);
  expect((await put('/api/tools/alpha_get_note', { enabled: false })).status).toBe(200);
  expect((await put('/api/platforms/alpha', { enabled: false })).status).toBe(200);

  expect((await reset(squatter)).status).toBe(204);
  const get = await ownerOf(squatter);
  expect((await get('/api/approvals')).data).toEqual([]);
  await withinASecond(
    () => get('/api/approvals/rules'),
    (rules) => expect(rules).toEqual({ send: false, delete: false, tools: {} }),
  );
  await withinASecond(
    () => get('/api/tools?limit=100'),
    ({ data }) => expect((data as { enabled: boolean }[]).filter(({ enabled }) => !enabled)).toEqual([]),
  );
});
