// Passkeys, alone and beside a password, with a device in software; and what is kept of it all.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DeviceOptions, SoftwareAuthenticator } from '../../../libs/login/test/authenticator.ts';
import { type Harness, type Instance, startHarness } from './harness.ts';
import { type Browser, openBrowser, PASSWORD, signUp, verifyAddress } from './person.ts';

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

async function add(browser: Browser, device: SoftwareAuthenticator) {
  const { body: options } = await browser.call('POST', '/v1/session/passkeys/options', {});
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
    const early = await person.call('POST', '/v1/session/passkeys/options', {});
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
    const { body: options } = await person.call('POST', '/v1/session/passkeys/options', {});
    const stolen = await stranger.call('POST', '/v1/session/passkeys', {
      ...{ name: 'x', response: device.create(options) },
    });
    expect([stolen.status, stolen.body.code]).toEqual([422, 'passkey_not_valid']);
    const { body: mine } = await add(person, device);
    expect((await stranger.call('DELETE', `/v1/session/passkeys/${mine.id}`)).status).toBe(404);
    expect((await person.call('DELETE', `/v1/session/passkeys/${mine.id}`)).status).toBe(204);
  });
});

describe('beside the password', () => {
  test('[P-3.34] is demanded where the person says so', async () => {
    const person = await verifiedPerson();
    const demand = (required: boolean) => person.call('PATCH', '/v1/session', { passkey_required: required });
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
    const last = await person.call('DELETE', `/v1/session/passkeys/${passkey.id}`);
    expect([last.status, last.body.code]).toEqual([409, 'last_passkey']);
    expect((await demand(false)).status).toBe(200);
    expect((await login(openBrowser(harness))).status).toBe(200);
    expect((await person.call('DELETE', `/v1/session/passkeys/${passkey.id}`)).status).toBe(204);
  });
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
