// An address that somebody else signed up with, at the moment its owner comes: what that one has under way ends in nothing.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withinASecond } from '@libs/runtime/testing';
import { hashToken } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testPlatform } from '../../../services/toolhub/src/mcp/test/platform.ts';
import { type Account, call, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  exchange,
  obtainCode,
  obtainTokens,
  registerClient,
} from '../../../services/toolhub/test/authorization.ts';
import { type LoneInstance, startAlone } from '../../../services/toolhub/test/instance.ts';

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
