// People get in, prove who they are, and get back in; what their cookie may do. One database, two processes.
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, type Instance, startHarness } from './harness.ts';
import { mailsTo, nextMail, openBrowser, PASSWORD, signUp, verifyAddress } from './person.ts';

let harness: Harness;
let other: Instance;
beforeAll(async () => {
  harness = await startHarness();
  other = await harness.another({ env: { PAYMENTS_ROLE: 'api' } });
});
afterAll(() => harness.stop());

const visit = () => openBrowser(harness);

describe('signing up', () => {
  test('[P-3.13] makes a person, an organisation with its owner, and a session in a cookie', async () => {
    const browser = visit();
    const answer = await browser.call('POST', '/v1/session/signup', {
      ...{ email: 'Grace@Example.com', password: PASSWORD, name: ' Grace ', organisation: 'Navy' },
    });
    expect(answer.status).toBe(201);
    const organisation = { id: expect.stringMatching(/^org_/), name: 'Navy', role: 'owner' };
    const session = {
      object: 'session',
      user: {
        id: expect.stringMatching(/^usr_/),
        email: 'Grace@Example.com',
        name: 'Grace',
        email_verified: false,
        operator: false,
        passkeys: 0,
        passkey_required: false,
        created_at: expect.stringMatching(/Z$/),
      },
      organisation: { ...organisation, live_access: 'none' },
      organisations: [organisation],
    };
    expect(answer.body).toEqual(session);
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^payments_session=pss_\w{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
    expect((await browser.call('GET', '/v1/session')).body).toEqual(session);
    expect((await browser.call('GET', '/v1/session', undefined, { at: other })).body).toEqual(session);
    const { rows } = await harness.database.query<{ stored: string }>(
      `select (select password_hash from users where email_key = 'grace@example.com') as stored,
         exists (select 1 from sessions where token_hash = $1) as raw`,
      [Buffer.from(cookie)],
    );
    expect(rows[0]).toMatchObject({ stored: expect.stringMatching(/^\$argon2id\$/), raw: false });
  });

  test('[P-3.14] an address makes one account, in any case and however many ask at once', async () => {
    const attempts = Array.from({ length: 6 }, (_, n) =>
      openBrowser(n % 2 === 0 ? harness : other).call('POST', '/v1/session/signup', {
        ...{ email: n % 3 === 0 ? 'Once@example.com' : 'once@EXAMPLE.com', password: PASSWORD },
        ...{ name: 'Once', organisation: 'Once' },
      }),
    );
    const answers = await Promise.all(attempts);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('email_taken');
    const { rows } = await harness.database.query(`select 1 from organisations where name = 'Once'`);
    expect(rows).toHaveLength(1);
  });

  test('[P-3.14] a domain beyond ASCII is one address in both of its spellings, and accounts from before keep theirs', async () => {
    const spellings = ['Ada@bücher.example', 'ada@xn--bcher-kva.EXAMPLE'];
    const signUpAs = (email: string) =>
      visit().call('POST', '/v1/session/signup', {
        ...{ email, password: PASSWORD, name: 'Ada', organisation: 'Books' },
      });
    const answers = await Promise.all([...spellings, ...spellings].map(signUpAs));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const logInAs = async (email: string) => {
      const { body } = await visit().call('POST', '/v1/session/login', { email, password: PASSWORD });
      return body.user?.id;
    };
    const id = answers.find(({ status }) => status === 201)?.body.user.id;
    expect(await Promise.all(spellings.map(logInAs))).toEqual([id, id]);
    for (const kept of ['ada@bücher.example', 'ada@xn--bcher-kva.example']) {
      await harness.database.query('update users set email = $2, email_key = $2 where id = $1', [id, kept]);
      expect(await Promise.all(spellings.map(logInAs))).toEqual([id, id]);
    }
    for (const [odd, plain] of [
      ['eve@ｂｏｏｋｓ.example', 'eve@books.example'],
      ['eve@bücher.xn--mnchen-3ya.example', 'eve@bücher.münchen.example'],
    ] as const) {
      expect([(await signUpAs(odd)).status, (await signUpAs(plain)).status]).toEqual([201, 409]);
      expect(await logInAs(odd)).toBe(await logInAs(plain));
    }
    const { body } = await signUpAs('other@books.example');
    await harness.database.query('update users set email = $2, email_key = $2 where id = $1', [
      body.user.id,
      'ada@bücher.example',
    ]);
    expect(await Promise.all(spellings.map(logInAs))).toEqual([body.user.id, id]);
  });

  test('[P-2.7] every bad field is named', async () => {
    const { status, body } = await visit().call('POST', '/v1/session/signup', {
      ...{ email: 'no address', password: 'short', name: ' ', organisation: '', more: 1 },
    });
    expect(status).toBe(422);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/email',
      '/more',
      '/name',
      '/organisation',
      '/password',
    ]);
  });
});

describe('logging in', () => {
  test('[P-3.15] a wrong password and an unknown address are answered alike', async () => {
    const { email } = await signUp(harness);
    const refuse = async (who: string) => {
      const { status, body } = await visit().call('POST', '/v1/session/login', {
        ...{ email: who, password: 'a wrong password' },
      });
      return { status, ...body, request_id: null };
    };
    const wrong = await refuse(email);
    expect(wrong).toMatchObject({ status: 401, code: 'invalid_credentials' });
    expect(await refuse('nobody@example.com')).toEqual(wrong);
    const forgot = async (who: string) => {
      const { status, text } = await visit().call('POST', '/v1/session/forgot', { email: who });
      return { status, text };
    };
    expect(await forgot(email)).toEqual({ status: 202, text: '{}' });
    expect(await forgot('nobody@example.com')).toEqual(await forgot(email));
  });

  test('[P-3.16] ten wrong passwords close an account for a quarter of an hour, over all processes', async () => {
    const { email } = await signUp(harness);
    const attempt = (at: Instance, password = 'a wrong password') =>
      openBrowser(at).call('POST', '/v1/session/login', { email, password });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => attempt(n % 2 === 0 ? harness : other)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    const closed = await attempt(harness, PASSWORD);
    expect([closed.status, closed.body.code]).toEqual([429, 'too_many_logins']);
    expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(800);
    harness.time.advance(15 * 60_000 + 1_000);
    expect((await attempt(harness, PASSWORD)).status).toBe(200);
  });

  test('[P-3.17] logging out and ending the person’s sessions hold at once in every process', async () => {
    const { email, ...first } = await signUp(harness);
    const second = openBrowser(other);
    expect((await second.call('POST', '/v1/session/login', { email, password: PASSWORD })).status).toBe(200);
    const kept = openBrowser(other, second.cookie);
    expect((await second.call('POST', '/v1/session/logout')).status).toBe(204);
    expect(second.cookie).toBeUndefined();
    expect((await kept.call('GET', '/v1/session', undefined, { at: harness })).status).toBe(401);
    expect((await openBrowser(harness, first.cookie).call('GET', '/v1/session')).status).toBe(200);
  });
});

describe('mail', () => {
  test('[P-3.18] verifies the address once, and holds no word that somebody chose', async () => {
    const browser = await signUp(harness, { name: 'Buy now', organisation: 'http://evil.example' });
    const mail = await nextMail(harness, browser.email, /Verify/);
    expect(mail.text).toContain('/dashboard/verify?token=pml_');
    expect(mail.text).not.toMatch(/Buy now|evil/);
    await verifyAddress(harness, browser);
    expect((await browser.call('GET', '/v1/session')).body.user.email_verified).toBe(true);
    const again = await browser.call('POST', '/v1/session/verify', { token: mail.token });
    expect([again.status, again.body.code]).toEqual([422, 'link_not_valid']);
    expect((await browser.call('POST', '/v1/session/verify/resend', {})).status).toBe(202);
    expect(await mailsTo(harness, browser.email)).toHaveLength(1);
  });

  test('[P-3.19] a forgotten password is reset by mail, once; all sessions end', async () => {
    const browser = await signUp(harness);
    await browser.call('POST', '/v1/session/forgot', { email: browser.email.toUpperCase() });
    const { token, text } = await nextMail(harness, browser.email, /password/);
    expect(text).toContain('/dashboard/reset?token=');
    const reset = (password: string) => visit().call('POST', '/v1/session/reset', { token, password });
    expect((await reset('another good password')).status).toBe(200);
    expect((await reset('a third good password')).body.code).toBe('link_not_valid');
    expect((await browser.call('GET', '/v1/session', undefined, { at: other })).status).toBe(401);
    const login = (password: string) =>
      browser.call('POST', '/v1/session/login', { email: browser.email, password });
    expect((await login(PASSWORD)).status).toBe(401);
    const { body } = await login('another good password');
    expect(body.user.email_verified).toBe(true);
  });

  test('[P-3.19] a reset by the owner of an address leaves nothing to whoever signed up with it before', async () => {
    const squatter = await signUp(harness);
    const left = (await squatter.call('POST', '/v1/keys', { name: 'left behind' })).body.key;
    await squatter.call('POST', '/v1/webhook_endpoints', { url: 'http://127.0.0.1:9/ear' });
    const withLeftKey = async (at: Instance) => (await at.call('GET', '/v1/payments', { key: left })).status;
    for (const at of [harness, other]) expect(await withLeftKey(at)).toBe(200);
    await squatter.call('POST', '/v1/session/forgot', { email: squatter.email });
    const { token } = await nextMail(harness, squatter.email, /password/);
    const owner = visit();
    const password = 'the owner has come';
    expect((await owner.call('POST', '/v1/session/reset', { token, password })).status).toBe(200);
    for (const at of [harness, other]) {
      await withinASecond(
        () => withLeftKey(at),
        (status) => expect(status).toBe(401),
      );
    }
    await owner.call('POST', '/v1/session/login', { email: squatter.email, password });
    expect((await owner.call('GET', '/v1/webhook_endpoints')).body.data).toEqual([]);
    const { key } = (await owner.call('POST', '/v1/keys', {})).body;
    await owner.call('POST', '/v1/session/forgot', { email: squatter.email });
    const again = await nextMail(harness, squatter.email, /password/, 1);
    await owner.call('POST', '/v1/session/reset', { token: again.token, password });
    const kept = await harness.call('GET', '/v1/payments', { key });
    expect(kept.status).toBe(200);
  });
});

describe('the cookie', () => {
  test('[P-3.20] works where a key does, in the mode of the header, and no other site can use it', async () => {
    const browser = await signUp(harness);
    const { body: method } = await browser.call('POST', '/v1/payment_methods', { type: 'balance' });
    expect(method.object).toBe('payment_method');
    const read = (mode: 'test' | 'live') =>
      browser.call('GET', `/v1/payment_methods/${method.id}`, undefined, { mode });
    expect([(await read('test')).status, (await read('live')).status]).toEqual([200, 404]);
    const post = (headers: Record<string, string>) =>
      browser.call('POST', '/v1/payment_methods', { type: 'balance' }, { headers });
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'content-type': 'text/plain' },
    ]) {
      const { status, body } = await post(headers as Record<string, string>);
      expect([status, body.code]).toEqual([403, 'csrf']);
    }
    expect((await post({ origin: 'http://localhost:4000' })).status).toBe(403);
    expect((await post({ 'payments-mode': 'both' })).status).toBe(400);
    const foreign = await visit().call(
      'POST',
      '/v1/session/login',
      { email: browser.email, password: PASSWORD },
      { headers: { origin: 'https://evil.example' } },
    );
    expect([foreign.status, foreign.body.code]).toEqual([403, 'csrf']);
  });

  test('[P-3.21] writes nothing live before the organisation is approved', async () => {
    const browser = await signUp(harness);
    const live = await browser.call('POST', '/v1/payment_methods', { type: 'balance' }, { mode: 'live' });
    expect([live.status, live.body.code]).toEqual([403, 'live_access_required']);
    expect((await browser.call('GET', '/v1/payments', undefined, { mode: 'live' })).status).toBe(200);
  });

  test('[P-3.22] a page that shows another organisation than the session is told so', async () => {
    const browser = await signUp(harness);
    const list = (organisation: string) =>
      browser.call('GET', '/v1/payments', undefined, { headers: { 'payments-organisation': organisation } });
    expect((await list(browser.organisationId)).status).toBe(200);
    const switched = await list('org_sandbox');
    expect([switched.status, switched.body.code]).toEqual([409, 'organisation_switched']);
  });

  test('a key is no person, and a person no operator', async () => {
    const { test: key } = await harness.organisation();
    const answer = await harness.call('GET', '/v1/session', { key });
    expect([answer.status, answer.body.code]).toEqual([403, 'person_required']);
    const browser = await signUp(harness);
    expect((await browser.call('GET', '/v1/admin/quarantine')).status).toBe(403);
    expect((await visit().call('GET', '/v1/session')).status).toBe(401);
  });
});
