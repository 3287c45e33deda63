// Accounts, sessions, personal tokens and who may call what, over real HTTP.
import type { TestDatabase } from '@libs/db/testing';
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Account,
  call,
  makeToken,
  newEmail,
  PASSWORD,
  signUp,
} from '../../../services/toolhub/test/accounts.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  INTERNAL_TOKEN,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';

let database: TestDatabase;
let instance: Instance;
let second: Instance;
let url: string;
let account: Account;

beforeAll(async () => {
  database = await createToolhubDatabase();
  [instance, second] = await Promise.all([startInstance(database.url), startInstance(database.url)]);
  url = instance.url;
  account = await signUp(url);
});

afterAll(async () => {
  await Promise.all([instance.stop(), second.stop()]);
  await database.drop();
});

describe('sign-up and login', () => {
  test('[TH-3.1] sign-up answers 201 with the customer and a session cookie', async () => {
    const email = newEmail();
    const { status, body, headers } = await call(`${url}/api/auth/signup`, {
      body: { email, password: PASSWORD, name: ' Grace ' },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      customer: {
        id: expect.stringMatching(/^cus_[0-9a-z]{26}$/),
        email,
        email_verified: false,
        name: 'Grace',
        plan: 'free',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
    const cookie = headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^toolhub_session=ths_[A-Za-z0-9]{43}; /);
    expect(cookie).toContain('HttpOnly');
    expect(cookie).toContain('SameSite=Lax');
    expect(cookie).not.toContain('Secure');
    const me = await call(`${url}/api/me`, { cookie: cookie.split(';')[0] ?? '' });
    expect(me.body).toEqual(body);
  });

  test('[TH-3.1] on https the cookie is Secure and bound to the host', async () => {
    const secure = await startInstance(database.url, { publicUrl: 'https://hub.example.com' });
    const { headers } = await call(`${secure.url}/api/auth/login`, {
      body: { email: account.email, password: PASSWORD },
    });
    await secure.stop();
    expect(headers.get('set-cookie')).toMatch(/^__Host-toolhub_session=.*; Path=\/;.*; Secure$/);
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d+/);
  });

  test('[TH-3.2] login and logout; the session ends in every process', async () => {
    const { status, body, headers } = await call(`${url}/api/auth/login`, {
      body: { email: account.email, password: PASSWORD },
    });
    expect([status, (body.customer as { id: string }).id]).toEqual([200, account.id]);
    const cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    expect((await call(`${second.url}/api/me`, { cookie })).status).toBe(200);
    const out = await call(`${url}/api/auth/logout`, { method: 'POST', cookie });
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    for (const { url: one } of [instance, second])
      expect((await call(`${one}/api/me`, { cookie })).status).toBe(401);
    expect((await call(`${url}/api/auth/logout`, { method: 'POST' })).status).toBe(204);
  });

  test('[TH-13.4] e-mail addresses compare without case, and there is one account for each', async () => {
    const upper = account.email.toUpperCase();
    expect((await call(`${url}/api/auth/login`, { body: { email: upper, password: PASSWORD } })).status).toBe(
      200,
    );
    const again = await call(`${url}/api/auth/signup`, {
      body: { email: upper, password: PASSWORD, name: 'X' },
    });
    expect([again.status, again.body.code]).toEqual([409, 'email_taken']);
    const email = newEmail();
    const race = await Promise.all(
      [url, second.url, url, second.url].map((one) =>
        call(`${one}/api/auth/signup`, { body: { email, password: PASSWORD, name: 'Race' } }),
      ),
    );
    expect(race.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test('[TH-3.3] an unknown account and a wrong password get the same answer', async () => {
    const wrong = await call(`${url}/api/auth/login`, {
      body: { email: account.email, password: 'wrong password' },
    });
    const unknown = await call(`${url}/api/auth/login`, {
      body: { email: newEmail(), password: 'wrong password' },
    });
    const { request_id: _one, ...first } = wrong.body;
    const { request_id: _two, ...other } = unknown.body;
    expect([wrong.status, first]).toEqual([unknown.status, other]);
    expect([wrong.status, first.code]).toEqual([401, 'invalid_credentials']);
    expect(wrong.headers.get('www-authenticate')).toBe('Password');
  });

  test('[TH-3.4] passwords are argon2id, and at least 10 characters long', async () => {
    const short = await call(`${url}/api/auth/signup`, {
      body: { email: newEmail(), password: '123456789', name: 'X' },
    });
    expect(short.status).toBe(422);
    expect(short.body.errors).toEqual([expect.objectContaining({ pointer: '/password' })]);
    const { rows } = await database.database.query<{ hash: string }>(
      'select password_hash as hash from customers',
    );
    for (const { hash } of rows) expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  test.each([
    [{}, ['/email', '/name', '/password']],
    [{ email: 'nobody', password: PASSWORD, name: 'X' }, ['/email']],
    [{ email: 'a@b@c.example', password: PASSWORD, name: 'X' }, ['/email']],
    [{ email: 'a b@c.example', password: PASSWORD, name: 'X' }, ['/email']],
    [{ email: 'a@c.example\n', password: PASSWORD, name: 'X' }, ['/email']],
    [{ email: `${'a'.repeat(300)}@c.example`, password: PASSWORD, name: 'X' }, ['/email']],
    [{ email: 'a@c.example', password: 'x'.repeat(300), name: 'X' }, ['/password']],
    [{ email: 'a@c.example', password: PASSWORD, name: '  ' }, ['/name']],
    [{ email: 'a@c.example', password: PASSWORD, name: 'X', admin: true }, ['/admin']],
    [{ email: 1, password: PASSWORD, name: null }, ['/email', '/name']],
  ])('[TH-2.2] a bad sign-up %j is refused by field', async (body, pointers) => {
    const answer = await call<{ errors: { pointer: string }[] }>(`${url}/api/auth/signup`, { body });
    expect(answer.status).toBe(422);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect([...new Set(answer.body.errors.map(({ pointer }) => pointer))].sort()).toEqual(pointers);
  });
});

describe('CSRF', () => {
  const post = (headers: Record<string, string>, body = '{"name":"x"}') =>
    fetch(`${url}/api/tokens`, { method: 'POST', headers: { cookie: account.cookie, ...headers }, body });
  const json = { 'content-type': 'application/json' };

  test.each<[string, Record<string, string>]>([
    ['another content type', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a multipart form', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['a foreign origin', { ...json, origin: 'https://evil.example' }],
    ['the origin null', { ...json, origin: 'null' }],
    ['another port', { ...json, origin: 'http://localhost:1' }],
    ['a cross-site request', { ...json, 'sec-fetch-site': 'cross-site' }],
    ['a same-site request of another origin', { ...json, 'sec-fetch-site': 'same-site' }],
  ])('[TH-13.2] a call with the cookie and %s is 403 csrf', async (_name, headers) => {
    const answer = await post(headers);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: 'csrf' });
  });

  test('[TH-13] the own origin passes, under every name of this machine', async () => {
    const { port } = new URL(url);
    for (const origin of [url, `http://127.0.0.1:${port}`, `http://[::1]:${port}`])
      expect((await post({ ...json, origin, 'sec-fetch-site': 'same-origin' })).status).toBe(201);
    expect((await post(json)).status).toBe(201);
  });

  test('[TH-13] reading needs none of that, and a Bearer call neither', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await call(`${url}/api/me`, { cookie: account.cookie, headers })).status).toBe(200);
    const { token } = await makeToken(url, account, { scopes: ['account:read', 'account:write'] });
    const renamed = await call(`${url}/api/me`, {
      method: 'PATCH',
      token,
      headers,
      body: { name: 'Ada Test' },
    });
    expect(renamed.status).toBe(200);
  });

  test('[TH-13] a foreign page can neither log in nor out', async () => {
    const headers = { origin: 'https://evil.example' };
    const login = await call(`${url}/api/auth/login`, {
      body: { email: account.email, password: PASSWORD },
      headers,
    });
    expect([login.status, login.body.code]).toEqual([403, 'csrf']);
    const out = await call(`${url}/api/auth/logout`, { method: 'POST', cookie: account.cookie, headers });
    expect(out.status).toBe(403);
    expect((await call(`${url}/api/me`, { cookie: account.cookie })).status).toBe(200);
  });
});

describe('personal tokens', () => {
  test('[TH-3.5] the token is shown once and stored hashed', async () => {
    const { status, body } = await call<{ id: string; token: string }>(`${url}/api/tokens`, {
      body: { name: 'laptop', scopes: ['tools:read'], expires_in_days: 7 },
      cookie: account.cookie,
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^tok_/),
      name: 'laptop',
      token: expect.stringMatching(/^thp_[A-Za-z0-9]{43}$/),
      scopes: ['tools:read'],
      expires_at: expect.any(String),
      created_at: expect.any(String),
    });
    const list = await call<{ data: { id: string }[] }>(`${url}/api/tokens`, { cookie: account.cookie });
    expect(list.body.data.find(({ id }) => id === body.id)).toMatchObject({ name: 'laptop' });
    expect(JSON.stringify(list.body)).not.toContain('thp_');
    const { rows } = await database.database.query('select to_jsonb(t)::text as row from personal_tokens t');
    expect(JSON.stringify(rows)).not.toContain(body.token);
  });

  test('[TH-4.9] without a wish they have tools:read tools:write account:read', async () => {
    const { token } = await makeToken(url, account);
    expect((await call(`${url}/api/me`, { token })).status).toBe(200);
    const denied = await call(`${url}/api/me`, { method: 'PATCH', body: { name: 'x' }, token });
    expect([denied.status, denied.body.code]).toEqual([403, 'insufficient_scope']);
    const { rows } = await database.database.query<{ scopes: string[] }>(
      `select scopes from personal_tokens where name = 'test' order by id desc limit 1`,
    );
    expect(rows[0]?.scopes).toEqual(['tools:read', 'tools:write', 'account:read']);
  });

  test('[TH-3.12] a token makes no token, whatever it may do', async () => {
    const { token } = await makeToken(url, account, { scopes: ['account:read', 'account:write'] });
    const wide = await call(`${url}/api/tokens`, { token, body: { name: 'x', scopes: ['account:read'] } });
    expect([wide.status, wide.body.code]).toEqual([403, 'person_required']);
  });

  test('[TH-3.6] a revoked token stops working in every process within 1 s', async () => {
    const { id, token } = await makeToken(url, account);
    // Both processes have it in their caches now.
    for (const { url: one } of [instance, second])
      expect((await call(`${one}/api/me`, { token })).status).toBe(200);
    const revoked = await call(`${url}/api/tokens/${id}`, { method: 'DELETE', cookie: account.cookie });
    expect(revoked.status).toBe(204);
    const statuses = async () =>
      Promise.all([instance, second].map(async (one) => (await call(`${one.url}/api/me`, { token })).status));
    await withinASecond(statuses, (answer) => expect(answer).toEqual([401, 401]));
    const again = await call(`${url}/api/tokens/${id}`, { method: 'DELETE', cookie: account.cookie });
    expect(again.status).toBe(404);
  });

  test('[TH-3] a process that lost its connection to the database forgets its cache', async () => {
    const { id, token } = await makeToken(url, account);
    expect((await call(`${second.url}/api/me`, { token })).status).toBe(200);
    await database.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen toolhub_changes'
       and datname = current_database()`,
    );
    await database.database.query('delete from personal_tokens where id = $1', [id]);
    const status = async () => (await call(`${second.url}/api/me`, { token })).status;
    await withinASecond(status, (answer) => expect(answer).toBe(401));
  });

  test('[TH-3] an expired token is refused', async () => {
    const { id, token } = await makeToken(url, account, { expires_in_days: 1 });
    const { rows } = await database.database.query(
      `select extract(epoch from expires_at - created_at)::int as seconds from personal_tokens where id = $1`,
      [id],
    );
    expect(rows).toEqual([{ seconds: 24 * 60 * 60 }]);
    await database.database.query(
      `update personal_tokens set expires_at = now() - interval '1 s' where id = $1`,
      [id],
    );
    expect((await call(`${url}/api/me`, { token })).status).toBe(401);
  });

  test('[TH-2.1] the list pages by cursor', async () => {
    const owner = await signUp(url);
    for (let count = 0; count < 5; count += 1) await makeToken(url, owner);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { body: { data: { id: string }[]; next_cursor: string | null } } = await call(
        `${url}/api/tokens?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
        { cookie: owner.cookie },
      );
      seen.push(...page.body.data.map(({ id }) => id));
      cursor = page.body.next_cursor;
    }
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
    expect(seen).toHaveLength(5);
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=nonsense', 'other=1'])
      expect((await call(`${url}/api/tokens?${query}`, { cookie: owner.cookie })).status).toBe(400);
  });

  test.each([
    {},
    { name: '' },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['admin'] },
    { name: 'x', scopes: ['offline_access'] },
    { name: 'x', scopes: ['tools:read', 'tools:read'] },
    { name: 'x', expires_in_days: 0 },
    { name: 'x', expires_in_days: 1.5 },
    { name: 'x', expires_in_days: 1e9 },
    { name: 'x'.repeat(101) },
  ])('[TH-2] a bad request %j is 422', async (body) => {
    expect((await call(`${url}/api/tokens`, { body, cookie: account.cookie })).status).toBe(422);
  });

  test('[TH-3] an account has at most 100 tokens', async () => {
    const owner = await signUp(url);
    await database.database.query(
      `insert into personal_tokens (customer_id, id, token_hash, name, scopes, created_at)
       select $1, 'tok_' || n, decode(lpad(to_hex(n), 64, '0'), 'hex'), 'x', '{tools:read}', now()
       from generate_series(1, 99) as n`,
      [owner.id],
    );
    const answers = await Promise.all(
      [1, 2, 3].map(() => call(`${url}/api/tokens`, { body: { name: 'x' }, cookie: owner.cookie })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });
});

describe('who may call', () => {
  const endpoints: [string, string, unknown?][] = [
    ['GET', '/api/me'],
    ['GET', '/api/tokens'],
    ['POST', '/api/tokens', { name: 'x' }],
    ['DELETE', '/api/tokens/tok_x'],
    ['GET', '/api/audit'],
  ];

  test.each(endpoints)('[TH-2.5] %s %s needs a caller', async (method, path, body) => {
    const tries = [
      await call(`${url}${path}`, { method, body }),
      await call(`${url}${path}`, { method, body, token: 'thp_unknown' }),
      await call(`${url}${path}`, { method, body, token: 'x'.repeat(1_000) }),
      await call(`${url}${path}`, { method, body, headers: { authorization: 'Basic eDp5' } }),
      await call(`${url}${path}`, { method, body, headers: { authorization: 'Bearer' } }),
      await call(`${url}${path}`, { method, body, cookie: 'toolhub_session=ths_unknown' }),
      await call(`${url}${path}`, { method, body, cookie: `toolhub_session=${'x'.repeat(2_000)}` }),
    ];
    for (const { status, body: problem, headers } of tries) {
      expect([status, problem.code]).toEqual([401, 'unauthenticated']);
      expect(headers.get('www-authenticate')).toContain(
        `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource"`,
      );
    }
    const internal = await call(`${url}${path}`, { method, body, token: INTERNAL_TOKEN });
    expect([internal.status, internal.body.code]).toEqual([403, 'forbidden']);
    const admin = await call(`${url}${path}`, { method, body, token: ADMIN_TOKEN });
    expect(admin.status).toBe(401);
  });

  test('[TH-3] two customers do not see each other', async () => {
    const [ada, bob] = await Promise.all([signUp(url), signUp(url)]);
    const { id } = await makeToken(url, ada);
    const foreign = await call(`${url}/api/tokens/${id}`, { method: 'DELETE', cookie: bob.cookie });
    expect([foreign.status, foreign.body.code]).toEqual([404, 'not_found']);
    for (const path of ['/api/tokens', '/api/audit', '/api/me']) {
      const seen = JSON.stringify((await call(`${url}${path}`, { cookie: bob.cookie })).body);
      expect(seen).not.toContain(ada.id);
      expect(seen).not.toContain(id);
    }
    // A cursor of one list is no key to another customer's.
    const page = await call<{ next_cursor: string | null }>(`${url}/api/audit?limit=1`, {
      cookie: ada.cookie,
    });
    const moved = await call<{ data: unknown[] }>(`${url}/api/audit?cursor=${page.body.next_cursor}`, {
      cookie: bob.cookie,
    });
    expect(JSON.stringify(moved.body)).not.toContain(ada.id);
  });
});
