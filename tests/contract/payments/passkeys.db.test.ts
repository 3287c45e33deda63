// Passkeys, alone and beside a password, with a device in software; and what is kept of it all.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DeviceOptions, SoftwareAuthenticator } from '../../../libs/login/test/authenticator.ts';
import { ADMIN_TOKEN, type Harness, type Instance, startHarness } from './harness.ts';
import { type Browser, nextMail, openBrowser, PASSWORD, signUp, verifyAddress } from './person.ts';

let harness: Harness;
let other: Instance;
beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_PUBLIC_URL: 'https://pay.example' } });
  other = await harness.another({
    env: { PAYMENTS_ROLE: 'api', PAYMENTS_PUBLIC_URL: 'https://pay.example' },
  });
});
afterAll(() => harness.stop());

const newDevice = (more: Partial<DeviceOptions> = {}) =>
  new SoftwareAuthenticator({ origin: 'https://pay.example', host: 'pay.example', ...more });

const askNew = (browser: Browser) =>
  browser.call('POST', '/v1/session/passkeys/options', { password: PASSWORD });
const remove = (browser: Browser, id: string) =>
  browser.call('DELETE', `/v1/session/passkeys/${id}`, { password: PASSWORD });

async function add(browser: Browser, device: SoftwareAuthenticator) {
  const { body: options } = await askNew(browser);
  return browser.call('POST', '/v1/session/passkeys', { name: 'Phone', response: device.create(options) });
}

async function verifiedPerson() {
  const person = await signUp(harness);
  await verifyAddress(harness, person);
  return person;
}

const ask = async (browser: Browser) => (await browser.call('POST', '/v1/session/passkey/options', {})).body;
const answer = (browser: Browser, response: object) =>
  browser.call('POST', '/v1/session/passkey', { response });

describe('alone', () => {
  test('[P-3.33] a passkey logs in, in any process', async () => {
    const person = await signUp(harness);
    const device = newDevice();
    const early = await askNew(person);
    expect([early.status, early.body.code]).toEqual([403, 'email_not_verified']);
    await verifyAddress(harness, person);
    const added = await add(person, device);
    expect([added.status, added.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^psk_/),
        object: 'passkey',
        name: 'Phone',
        created_at: expect.any(String),
        last_used_at: null,
      },
    ]);
    expect((await person.call('GET', '/v1/session')).body.user.passkeys).toBe(1);
    const browser = openBrowser(other);
    const question = await ask(browser);
    expect(question).toMatchObject({ rpId: 'pay.example', userVerification: 'required' });
    const { status, body, headers } = await answer(browser, device.get(question));
    expect([status, body.user.id]).toEqual([200, person.userId]);
    expect(headers.getSetCookie()[0]).toMatch(/^__Host-payments_session=pss_\w+; .*; Secure$/);
    expect((await browser.call('GET', '/v1/session', undefined, { at: harness })).status).toBe(200);
    const { body: list } = await person.call('GET', '/v1/session/passkeys');
    expect(list.data).toEqual([{ ...added.body, last_used_at: expect.any(String) }]);
  });

  test('[P-3.33] an answer counts once, from the browser that asked, for our origin, and by a device that checked', async () => {
    const person = await verifiedPerson();
    const device = newDevice();
    expect((await add(person, device)).status).toBe(201);
    const refused = async (browser: Browser, response: object) => {
      const { status, body } = await answer(browser, response);
      expect([status, body.code]).toEqual([401, 'passkey_refused']);
    };
    const browser = openBrowser(harness);
    const response = device.get(await ask(browser));
    const thief = openBrowser(harness);
    await refused(thief, response);
    await ask(thief);
    await refused(thief, response);
    const again = openBrowser(harness, browser.cookie);
    expect((await answer(browser, response)).status).toBe(200);
    await refused(again, response);
    const late = openBrowser(harness);
    const slow = device.get(await ask(late));
    harness.time.advance(5 * 60_000 + 1_000);
    await refused(late, slow);
    for (const more of [{ origin: 'https://evil.example' }, { host: 'evil.example' }, { verifies: false }]) {
      const odd = newDevice(more);
      const { status } = await add(person, odd);
      const browserOfOdd = openBrowser(harness);
      await refused(browserOfOdd, odd.get(await ask(browserOfOdd)));
      // A device that checks nobody may still be a second factor.
      expect(status).toBe('verifies' in more ? 201 : 422);
    }
    const nobody = openBrowser(harness);
    await refused(nobody, newDevice().get(await ask(nobody)));
    for (const sent of [{ id: 7, response: 'none' }, {}, { id: 'x', response: { userHandle: 'AAAA' } }]) {
      const junk = openBrowser(harness);
      await ask(junk);
      await refused(junk, sent);
    }
  });

  test('what a device was asked in one session counts in no other, nor for another person', async () => {
    const person = await verifiedPerson();
    const stranger = await verifiedPerson();
    const device = newDevice();
    const { body: options } = await askNew(person);
    const stolen = await stranger.call('POST', '/v1/session/passkeys', {
      ...{ name: 'x', response: device.create(options) },
    });
    expect([stolen.status, stolen.body.code]).toEqual([422, 'passkey_not_valid']);
    const { body: mine } = await add(person, device);
    expect((await remove(stranger, mine.id)).status).toBe(404);
    expect((await remove(person, mine.id)).status).toBe(204);
  });
});

describe('beside the password', () => {
  test('[P-3.34] is demanded where the person says so', async () => {
    const person = await verifiedPerson();
    const demand = (required: boolean) =>
      person.call('PATCH', '/v1/session', { passkey_required: required, password: PASSWORD });
    expect((await demand(true)).status).toBe(409);
    const device = newDevice({ verifies: false });
    const { body: passkey } = await add(person, device);
    expect((await demand(true)).body.user.passkey_required).toBe(true);
    const login = (browser: Browser, password = PASSWORD) =>
      browser.call('POST', '/v1/session/login', { email: person.email, password });
    expect((await login(openBrowser(harness), 'a wrong password')).body.code).toBe('invalid_credentials');
    const browser = openBrowser(harness);
    const half = await login(browser);
    expect([half.status, half.body.code]).toEqual([401, 'passkey_required']);
    expect((await browser.call('GET', '/v1/session')).status).toBe(401);
    const stranger = await verifiedPerson();
    const strangersDevice = newDevice();
    await add(stranger, strangersDevice);
    const wrong = await answer(browser, strangersDevice.get(half.body.options));
    expect([wrong.status, wrong.body.code]).toEqual([401, 'passkey_refused']);
    const { body: retry } = await login(browser);
    const { status, body } = await answer(browser, device.get(retry.options));
    expect([status, body.user.id]).toEqual([200, person.userId]);
    const last = await remove(person, passkey.id);
    expect([last.status, last.body.code]).toEqual([409, 'last_passkey']);
    expect((await demand(false)).status).toBe(200);
    expect((await login(openBrowser(harness))).status).toBe(200);
    expect((await remove(person, passkey.id)).status).toBe(204);
  });
});

describe('a second factor after another password', () => {
  /** Somebody who has got as far as the device, with the password of before. */
  async function halfIn() {
    const person = await verifiedPerson();
    const device = newDevice();
    await add(person, device);
    await person.call('PATCH', '/v1/session', { passkey_required: true, password: PASSWORD });
    const browser = openBrowser(harness);
    const login = { email: person.email, password: PASSWORD };
    const { body } = await browser.call('POST', '/v1/session/login', login);
    return { person, end: () => answer(browser, device.get(body.options)) };
  }
  const refused = async (end: () => ReturnType<typeof answer>) => {
    const { status, body } = await end();
    expect([status, body.code]).toEqual([401, 'passkey_refused']);
  };

  test('[P-3.34] begins no session once the password was changed', async () => {
    const { person, end } = await halfIn();
    const change = { current: PASSWORD, new: 'another horse battery' };
    expect((await person.call('POST', '/v1/session/password', change)).status).toBe(204);
    await refused(end);
  });

  test('[P-3.34] nor once it was reset by mail', async () => {
    const { person, end } = await halfIn();
    await openBrowser(harness).call('POST', '/v1/session/forgot', { email: person.email });
    const { token } = await nextMail(harness, person.email, /password/);
    const reset = { token, password: 'another horse battery' };
    expect((await openBrowser(harness).call('POST', '/v1/session/reset', reset)).status).toBe(200);
    await refused(end);
  });

  test('[P-3.34] nor where it changes while the device answers', async () => {
    const { person, end } = await halfIn();
    const other = await signUp(harness, { password: 'another horse battery' });
    await harness.database.query(
      'update users set password_hash = (select password_hash from users where id = $2) where id = $1',
      [person.userId, other.userId],
    );
    await refused(end);
  });
});

describe('a session alone', () => {
  /** What somebody with a stolen session would try, with the password they think it is. */
  const attempts = (browser: Browser, id: string, password?: string) => {
    const given = password === undefined ? {} : { password };
    return [
      () => browser.call('POST', '/v1/session/passkeys/options', given),
      () => browser.call('DELETE', `/v1/session/passkeys/${id}`, given),
      () => browser.call('PATCH', '/v1/session', { passkey_required: true, ...given }),
      () => browser.call('PATCH', '/v1/session', { passkey_required: false, name: 'Thief', ...given }),
    ];
  };

  test('[P-3.36] neither adds nor removes a passkey, nor demands one: that takes the password', async () => {
    const person = await verifiedPerson();
    const { body: passkey } = await add(person, newDevice());
    for (const attempt of attempts(person, passkey.id)) {
      const { status, body } = await attempt();
      expect([status, body.errors?.map((one: { pointer: string }) => one.pointer)]).toEqual([
        422,
        ['/password'],
      ]);
    }
    for (const attempt of attempts(person, passkey.id, 'not the password')) {
      const { status, body } = await attempt();
      expect([status, body.code]).toEqual([403, 'wrong_password']);
    }
    const { user } = (await person.call('GET', '/v1/session')).body;
    expect(user).toMatchObject({ passkeys: 1, passkey_required: false, name: 'Ada' });
    expect((await person.call('PATCH', '/v1/session', { name: 'Ada L.' })).status).toBe(200);
  });

  test('[P-3.36] guessing there counts as guessing at the log-in', async () => {
    const person = await verifiedPerson();
    const { body: passkey } = await add(person, newDevice());
    for (let failed = 0; failed < 10; failed += 4) {
      for (const attempt of attempts(person, passkey.id, 'not the password')) await attempt();
    }
    const { status, body } = await remove(person, passkey.id);
    expect([status, body.code]).toEqual([429, 'too_many_logins']);
    const login = { email: person.email, password: PASSWORD };
    expect((await openBrowser(harness).call('POST', '/v1/session/login', login)).status).toBe(429);
  });
});

test('[P-3.37] the operator lets in again who demands a passkey and has none left', async () => {
  const person = await verifiedPerson();
  await add(person, newDevice());
  await add(person, newDevice());
  await person.call('PATCH', '/v1/session', { passkey_required: true, password: PASSWORD });
  const login = () =>
    openBrowser(harness).call('POST', '/v1/session/login', { email: person.email, password: PASSWORD });
  expect((await login()).body.code).toBe('passkey_required');
  const letIn = (email: string, key: string | null) =>
    harness.call('DELETE', `/v1/admin/users/${email}/passkeys`, { key });
  expect((await letIn(person.email, null)).status).toBe(401);
  expect((await letIn('nobody@example.com', ADMIN_TOKEN)).status).toBe(404);
  expect((await letIn(person.email, ADMIN_TOKEN)).status).toBe(204);
  const { status, body } = await login();
  expect([status, body.user.passkeys, body.user.passkey_required]).toEqual([200, 0, false]);
  expect((await letIn(person.email, ADMIN_TOKEN)).status).toBe(204);
});

test('[P-3.37] which stands in the log of every organisation that the person is in, as done by the operator', async () => {
  const person = await verifiedPerson();
  await add(person, newDevice());
  const logOf = async (organisation: string) => {
    await person.call('POST', '/v1/session/organisation', { organisation_id: organisation });
    const { data } = (await person.call('GET', '/v1/audit')).body;
    return data.filter(({ action }: { action: string }) => action === 'user.passkeys_removed');
  };
  const second = await person.call('POST', '/v1/session/organisations', { name: 'Second' });
  const stranger = await signUp(harness);
  await harness.call('DELETE', `/v1/admin/users/${person.email}/passkeys`, { key: ADMIN_TOKEN });
  const byOperator = { user_id: 'operator', user_email: null, ip: null, outcome: 'success' };
  const line = expect.objectContaining({ ...byOperator, target: person.userId });
  expect(await logOf(person.organisationId)).toEqual([line]);
  expect(await logOf(second.body.organisation.id)).toEqual([line]);
  expect((await stranger.call('GET', '/v1/audit')).body.data).toEqual([]);
});

test('[P-3.35] owners see what people did, refusals too, and nobody else does', async () => {
  const person = await signUp(harness);
  const { body: key } = await person.call('POST', '/v1/keys', { name: 'shop' });
  await person.call('POST', '/v1/live_access', {});
  await harness.call('GET', '/v1/payments', { key: key.key });
  const order = {
    ...{ amount: 100, currency: 'USD' },
    ...{ source: { payment_method_id: 'pm_a' }, destination: { payment_method_id: 'pm_b' } },
  };
  const headers = { 'idempotency-key': 'by hand' };
  await harness.call('POST', '/v1/payments', {
    key: key.key,
    body: order,
    headers: { 'idempotency-key': 'by key' },
  });
  const { body: payment } = await person.call('POST', '/v1/payments', order, { headers });
  await person.call('POST', '/v1/payments', { ...order, currency: 'EUR' }, { headers });
  const { body } = await person.call('GET', '/v1/audit');
  const named = { user_id: person.userId, user_name: 'Ada', user_email: person.email };
  const entry = (action: string, outcome: string, target: string | null) =>
    expect.objectContaining({ object: 'audit_entry', ...named, action, outcome, target });
  expect(body.data).toEqual([
    entry('payment.created', 'refused', null),
    entry('payment.created', 'success', payment.id),
    entry('live_access.requested', 'refused', null),
    entry('key.created', 'success', key.id),
  ]);
  const { status, body: refusal } = await harness.call('GET', '/v1/audit', { key: key.key });
  expect([status, refusal.code]).toEqual([403, 'person_required']);
  const stranger = await signUp(harness);
  expect((await stranger.call('GET', '/v1/audit')).body.data).toEqual([]);
});
