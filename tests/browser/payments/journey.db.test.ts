// A person's way through the dashboard, from sign-up to money that comes back, in a real browser.
import type { ServerResponse } from 'node:http';
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, type Harness } from '../../contract/payments/harness.ts';
import { nextMail } from '../../contract/payments/person.ts';
import { answer, type Receiver, startReceiver } from '../../contract/payments/receiver.ts';
import { goTo, hasChromium, openPage, startChromium, type WatchedPage } from '../chromium.ts';
import { startDashboard } from './rig.ts';

const SLOW_MACHINE_MS = 90_000;
const EMAIL = 'grace@example.com';
const PASSWORD = 'a compiler for everybody';

describe.runIf(hasChromium)('a person at the dashboard', { timeout: SLOW_MACHINE_MS }, () => {
  let harness: Harness;
  let chromium: Chromium;
  let receiver: Receiver;
  let watched: WatchedPage;
  let page: Page;
  let url: string;
  let serverKey: string;
  let failedPath: string;

  beforeAll(async () => {
    [harness, receiver, chromium] = await Promise.all([startDashboard(), startReceiver(), startChromium()]);
    // By its name: passkeys belong to names, and a bare address is none.
    url = harness.url.replace('127.0.0.1', 'localhost');
    watched = await openPage(chromium, url);
    page = watched.page;
    page.setDefaultTimeout(30_000);
  }, SLOW_MACHINE_MS);
  afterAll(async () => {
    await chromium?.close();
    await receiver?.stop();
    await harness?.stop();
  });

  async function makeKey(name: string): Promise<string> {
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await button('Make a key').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Make a key' }).click();
    const key = await page.getByText(/^sk_(test|live)_/).textContent();
    await button('I have kept it').click();
    await page.getByRole('row', { name: new RegExp(name) }).waitFor();
    return key ?? '';
  }
  const button = (name: string | RegExp) => page.getByRole('button', { name });

  test('[P-9.16] signs up, and proves the address by the link of the mail', async () => {
    await page.goto('/');
    await page.waitForURL(/\/dashboard\/login\?next=/);
    await page.getByRole('link', { name: 'Sign up' }).click();
    // What is wrong is said at the field.
    await page.getByLabel('Name').fill('Grace Hopper');
    await page.getByLabel('Organisation').fill('Compilers');
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill('short');
    await button('Sign up').click();
    await page.locator('input[aria-invalid="true"]').waitFor();
    expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Password').fill(PASSWORD);
    await button('Sign up').click();
    await page.getByText('Your first payment').waitFor();
    const { token } = await nextMail(harness, EMAIL, /Verify/);
    await page.goto(`/dashboard/verify?token=${token}`);
    await page.getByText('Verified. Thank you!').waitFor();
    await page.getByRole('link', { name: 'Go on' }).click();
    await page.getByText('Your first payment').waitFor();
    expect(await page.getByText('not verified yet').count()).toBe(0);
  });

  test('adds an endpoint, whose secret is shown once', async () => {
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await button('Add endpoint').first().click();
    await page.getByLabel('URL').fill('ftp://example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .or(page.locator('[aria-invalid="true"]'))
      .first()
      .waitFor();
    await page.getByLabel('URL').fill(`${receiver.url}/hooks`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
    expect(await page.getByText(/whsec_/).textContent()).toMatch(/^whsec_\S+$/);
    await button('I have kept it').click();
    await page.getByText(`${receiver.url}/hooks`).waitFor();
  });

  test('pays by the form with a quote beside it, and watches it complete without a reload', async () => {
    await goTo(page, '/dashboard/payments/new');
    await page.getByLabel('Amount in USD').fill('1,250.00');
    await page.getByLabel('From payment method').fill('pm_alice');
    await page.getByLabel('To payment method').fill('pm_bob');
    await page.getByLabel('Description').fill('Invoice 7');
    await page.getByText('Why this rail').first().waitFor();
    const unanswered: ServerResponse[] = [];
    receiver.respond = (response) => unanswered.push(response);
    // Twice in a hurry is still one payment.
    await button('Send payment').dblclick();
    await page.waitForURL(/\/payments\/pay_/);
    await page.getByRole('heading', { level: 1, name: 'Payment of $1,250.00' }).waitFor();
    const loads: string[] = [];
    page.on('load', () => loads.push(page.url()));
    await page.locator('.mantine-Timeline-root').getByText('Completed').waitFor();
    expect(loads).toEqual([]);
    await page
      .getByRole('button', { name: /pacs\.008|nacha/ })
      .first()
      .waitFor();
    // Each of its events says what becomes of it at the endpoint, also when the answer comes late.
    const told = (status: string) =>
      page
        .getByRole('row', { name: new RegExp(`payment\\.completed.*${status}`) })
        .first()
        .waitFor();
    await told('Pending');
    receiver.respond = answer(204);
    for (const response of unanswered) response.writeHead(204).end();
    await told('Delivered');
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    await page
      .getByRole('link', { name: /^Payment pay_/ })
      .first()
      .waitFor();
    expect(await page.getByRole('link', { name: /^Payment pay_/ }).count()).toBe(1);
    // Accounts go by their names; who made them up by their ids finds those beside.
    await page
      .getByRole('row', { name: /Test Account\s····\s\d{4} pm_alice.*Test Account\s····\s\d{4} pm_bob/ })
      .waitFor();
  });

  test('makes a key, which works, and stops working within a second of being revoked', async () => {
    const key = await makeKey('Till');
    expect(key).toMatch(/^sk_test_/);
    expect((await harness.call('GET', '/v1/payments', { key })).status).toBe(200);
    await page.getByRole('row', { name: /Till/ }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /Till.*Revoked/ }).waitFor();
    const revokedMs = performance.now();
    let lastTakenAfterMs = 0;
    const tryKey = async () => {
      const begunMs = performance.now();
      const { status } = await harness.call('GET', '/v1/payments', { key });
      if (status === 200) lastTakenAfterMs = begunMs - revokedMs;
      return status;
    };
    await expect.poll(tryKey, { timeout: 20_000 }).toBe(401);
    expect(lastTakenAfterMs).toBeLessThan(1_000);
  });

  test('sees deliveries, one that fails, and tries it again', async () => {
    receiver.respond = (response) => response.writeHead(500).end('the till is closed');
    await goTo(page, '/dashboard/webhooks');
    await page.getByRole('link', { name: /\/hooks$/ }).click();
    await button('Send a test').click();
    await page.getByRole('row', { name: /webhook_endpoint\.test.*500/ }).waitFor();
    // What was sent, and what came back, word for word.
    await button('Webhook endpoint test').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('the till is closed').waitFor();
    await dialog.getByText(/webhook-id: evt_/).waitFor();
    await dialog.getByText('"type": "webhook_endpoint.test"').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    receiver.respond = answer(204);
    await page
      .getByRole('row', { name: /webhook_endpoint\.test/ })
      // The service may have tried it again by itself meanwhile, and then it is sent once more.
      .getByRole('button', { name: /Try again now|Send again/ })
      .click();
    await page.getByRole('row', { name: /webhook_endpoint\.test.*Delivered/ }).waitFor();
  });

  test('changes what an endpoint hears of; a wrong address is refused at its field', async () => {
    await button('Edit').click();
    const dialog = page.getByRole('dialog');
    const address = dialog.getByLabel('URL');
    const before = await address.inputValue();
    await address.fill('http://192.168.0.1/hooks');
    await dialog.getByLabel('Description').fill('Till');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('input[type="url"][aria-invalid="true"]').waitFor();
    await address.fill(before);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const facts = page.locator('dl');
    await facts.getByText('Till', { exact: true }).waitFor();
    // What was not touched stays: it hears of all events.
    await facts.getByText('All events').waitFor();
    // It is asked for by its id, which one can copy; moments say their zone.
    await facts.getByRole('button', { name: 'Copy Endpoint' }).waitFor();
    expect(await facts.locator('time').first().textContent()).toMatch(/[AP]M \S+$/);
  });

  test('the walk-through has gone when all of it is done', async () => {
    serverKey = await makeKey('Server');
    await goTo(page, '/dashboard');
    await page.getByRole('heading', { name: 'Latest payments' }).waitFor();
    await expect.poll(() => page.getByText('Your first payment').count()).toBe(0);
  });

  test('refunds a payment, no more than is left of it, and sees the refund at the payment', async () => {
    await goTo(page, '/dashboard/payments?status=completed');
    await page.getByRole('link', { name: /^Payment pay_/ }).click();
    await button('Refund').click();
    await page.getByRole('dialog').getByLabel('Amount in USD').fill('2,000.00');
    await page.getByRole('dialog').getByRole('button', { name: 'Refund' }).click();
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .or(page.locator('[aria-invalid="true"]'))
      .first()
      .waitFor();
    await page.getByRole('dialog').getByLabel('Amount in USD').fill('250.00');
    await page.getByRole('dialog').getByRole('button', { name: 'Refund' }).click();
    await page.getByRole('heading', { level: 1, name: 'Refund of $250.00' }).waitFor();
    await page.locator('dd').getByRole('link', { name: /^pay_/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Payment of $1,250.00' }).waitFor();
    await page.getByText('Refunded').waitFor();
    // The payment leads to each of its refunds, too.
    const refunds = page.getByRole('table', { name: 'Refunds' });
    await refunds.getByRole('link', { name: /^Payment pay_.*\$250\.00$/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Refund of $250.00' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Refunds' }).count()).toBe(0);
  });

  test('moves the clock to the next window, forces a return, and sees it without a reload', async () => {
    await goTo(page, '/dashboard/sandbox');
    await button('Freeze now').click();
    await page.getByText('Frozen', { exact: true }).waitFor();
    await goTo(page, '/dashboard/payments/new');
    await page.getByLabel('Amount in USD').fill('40.00');
    await page.getByLabel('From payment method').fill('pm_alice');
    await page.getByLabel('To payment method').fill('pm_bob');
    await page.getByRole('combobox', { name: 'Rail' }).click();
    await page.getByRole('option', { name: 'ACH' }).click();
    await page.getByLabel('Description').fill('Invoice 8');
    await page.getByLabel('Metadata').fill('order=8');
    await button('Send payment').click();
    await page.waitForURL(/\/payments\/pay_/);
    const payment = new URL(page.url()).pathname;
    failedPath = payment;
    // What was asked for is no choice: nothing is said of what would have been cheaper.
    const rails = page.getByRole('table', { name: 'Why this rail' });
    await rails.getByRole('row', { name: /ACH.*It was asked for/ }).waitFor();
    await rails.getByRole('row', { name: /RTP.*Possible, but not asked for/ }).waitFor();
    const timeline = page.locator('.mantine-Timeline-root');
    await timeline.getByText('Pending').waitFor();
    // Its file leaves at one of the next windows, so the clock goes to the last of them.
    await goTo(page, '/dashboard/sandbox');
    const clock = page.getByRole('main').locator('dd time').first();
    const before = await clock.getAttribute('datetime');
    const windows = page.getByRole('group', { name: 'Next ACH windows' }).getByRole('button');
    // The clock and its windows are written in one way, which says the zone.
    for (const shown of [clock, ...(await windows.all())])
      expect(await shown.textContent()).toMatch(/^\w+ \d+, \d{4}, \d+:\d\d:\d\d [AP]M \S+$/);
    await windows.last().click();
    await expect.poll(() => clock.getAttribute('datetime')).not.toBe(before);
    await goTo(page, payment);
    await timeline.getByText('Processing').waitFor();
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Return' }).click();
    await page.getByLabel('Network code').fill('R01');
    await button('Force it').click();
    await timeline.getByText('Failed').waitFor();
    await page.getByText(/R01/).first().waitFor();
    // Why is said in words, with the codes beside them.
    expect(await page.getByRole('main').getByRole('alert').first().textContent()).toMatch(
      /returned the entry: Insufficient funds.*R01.*insufficient_funds/,
    );
    // Nothing more can happen to it, so nothing more is offered.
    expect(await button('Force it').count()).toBe(0);
    // What was sent over the rail explains itself, and so does the file.
    await page.getByRole('button', { name: /nacha/i }).first().click();
    await page.getByText('Point at a field').filter({ visible: true }).first().waitFor();
  });

  test('tries a failed payment again: the form has the same in it, and only the button sends it', async () => {
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/v1/payments'))
        sent.push(request.headers()['idempotency-key'] ?? '');
    });
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.getByText('Filled in as in the payment').waitFor();
    const typed = ['Amount in USD', 'From payment method', 'To payment method', 'Description', 'Metadata'];
    const values = await Promise.all(typed.map((label) => page.getByLabel(label).inputValue()));
    expect(values).toEqual(['40.00', 'pm_alice', 'pm_bob', 'Invoice 8', 'order=8']);
    expect(await page.getByRole('combobox', { name: 'Rail' }).inputValue()).toBe('ACH');
    await page.getByText('Why this rail').first().waitFor();
    expect(sent).toEqual([]);
    await button('Send payment').click();
    await page.getByRole('heading', { level: 1, name: 'Payment of $40.00' }).waitFor();
    expect(sent).toEqual([expect.stringMatching(/^\w{32}$/)]);
    expect(new URL(page.url()).pathname).not.toBe(failedPath);
    // While it is under way there is nothing to try again.
    await page.locator('.mantine-Timeline-root').getByText('Pending').waitFor();
    expect(await page.getByRole('link', { name: 'Try again' }).count()).toBe(0);
    await goTo(page, '/dashboard/sandbox');
    // A time that has passed is refused at the field.
    await page.getByLabel('Set to').fill('2020-01-01T10:00:00');
    await button(/^Set$/).click();
    await page.locator('input[type="datetime-local"][aria-invalid="true"]').waitFor();
    await button('Let it run').click();
    await page.getByText('Running', { exact: true }).waitFor();
  });

  test('finds the call in the request log, by the id of its answer', async () => {
    const refused = await harness.call('GET', '/v1/payments/pay_none', { key: serverKey });
    const id = refused.headers.get('x-request-id') as string;
    const isThere = async () => {
      const { data } = await page.request
        .get(`/v1/request_logs?request_id=${id}`, { headers: { 'payments-mode': 'test' } })
        .then((response) => response.json());
      return data.length;
    };
    await expect.poll(isThere, { timeout: 20_000, interval: 250 }).toBe(1);
    await goTo(page, '/dashboard/logs');
    await page.getByRole('heading', { level: 1, name: 'Request log' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search pages and actions' }).fill(id);
    await page.keyboard.press('Enter');
    await page.waitForURL(/request_id=/);
    await page.getByRole('link', { name: /GET \/v1\/payments\/pay_none/ }).click();
    await page.getByText('"code": "not_found"').waitFor();
  });

  test('finds a page by the keyboard alone', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search pages and actions' }).fill('ledger');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
    await page.getByRole('tab', { name: 'Check' }).click();
    await page.getByText('The books are right.').waitFor();
  });

  test('an ended session leads to the log-in, and back to where one was', async () => {
    await page.context().clearCookies();
    await page.goto('/dashboard/payments?status=completed');
    await page.waitForURL(/\/dashboard\/login\?next=/);
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill('not the password');
    await button('Log in').first().click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await button('Log in').first().click();
    await page.waitForURL(/\/dashboard\/payments\?status=completed/);
    await page
      .getByRole('link', { name: /^Payment pay_/ })
      .first()
      .waitFor();
  });

  test('adds a passkey, and logs in with it instead of the password', async () => {
    const device = await page.context().newCDPSession(page);
    await device.send('WebAuthn.enable');
    await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await goTo(page, '/dashboard/settings');
    // A wrong password is said where it was typed.
    const current = page.getByRole('textbox', { name: 'Current password' });
    await current.fill('not the password');
    await page.getByRole('textbox', { name: 'New password' }).fill('a sentence that is new');
    await button('Change password').click();
    await expect.poll(() => current.getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Name of the passkey').fill('Laptop');
    await button('Add a passkey').click();
    await page.getByRole('row', { name: /Laptop/ }).waitFor();
    await button('Your account').click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await button('Use a passkey instead').click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });

  test('[P-9.15] test and live are never confused: another address, another word, nothing shared', async () => {
    await goTo(page, '/dashboard/payments');
    await page.getByRole('button', { name: 'Mode: Test' }).click();
    await page.getByRole('menuitem', { name: 'Switch to live mode' }).click();
    await page.waitForURL(/\/dashboard\/live\/payments/);
    await page.getByRole('button', { name: 'Mode: Live' }).waitFor();
    await page.getByText('No payments yet').waitFor();
    await page.getByText('payments here move real money').waitFor();
  });

  test('asks for live access, and makes a live key once the operator has approved', async () => {
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('Live keys need live access').waitFor();
    await page.getByRole('link', { name: 'To the settings' }).click();
    await page.getByLabel('What you will use it for').fill('A shop for compilers');
    await button('Ask for live access').click();
    await page.getByText('Asked for; we are looking at your organisation.').waitFor();
    const session = await page.request.get('/v1/session').then((response) => response.json());
    const path = `/v1/admin/organisations/${session.organisation.id}/live_access`;
    const approved = await harness.call('POST', path, { key: ADMIN_TOKEN, body: { approved: true } });
    expect(approved.status).toBe(200);
    // Whoever waits for it on the page hears of it there.
    await page.getByText('Approved: you can make live keys.').waitFor();
    expect(await makeKey('Shop')).toMatch(/^sk_live_/);
  });

  test('invites a viewer, who sees payments and can write nothing, whatever is called', async () => {
    await goTo(page, '/dashboard/live/team');
    await button('Invite').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail').fill('viewer@example.com');
    await dialog.getByRole('radio', { name: /Viewer/ }).click();
    await dialog.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('row', { name: /viewer@example\.com/ }).waitFor();
    const { token } = await nextMail(harness, 'viewer@example.com', /invite/i);
    const viewer = await openPage(chromium, url);
    await viewer.page.goto(`/dashboard/invitation?token=${token}`);
    await viewer.page.getByText('Compilers invites you. Your role: Viewer.').waitFor();
    await viewer.page.getByLabel('Name').fill('Jean Bartik');
    await viewer.page.getByLabel('Password').fill(PASSWORD);
    await viewer.page.getByRole('button', { name: 'Sign up and join' }).click();
    await viewer.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await goTo(viewer.page, '/dashboard/payments');
    await viewer.page
      .getByRole('link', { name: /^Payment pay_/ })
      .first()
      .waitFor();
    expect(await viewer.page.getByRole('link', { name: 'New payment' }).count()).toBe(0);
    await goTo(viewer.page, failedPath);
    await viewer.page.getByText('Why it did not work').waitFor();
    expect(await viewer.page.getByRole('link', { name: 'Try again' }).count()).toBe(0);
    await goTo(viewer.page, '/dashboard/team');
    await viewer.page.getByRole('row', { name: /Grace Hopper.*Owner/ }).waitFor();
    expect(await viewer.page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0);
    const refused = await viewer.page.request.post('/v1/webhook_endpoints', {
      data: { url: receiver.url },
      headers: { 'payments-mode': 'test' },
    });
    expect(refused.status()).toBe(403);
    expect((await viewer.page.request.get('/v1/keys')).status()).toBe(403);
    expect(viewer.faults).toEqual([]);
    await viewer.page.context().close();
  });

  test('a lost connection is said, and recovered from by itself', async () => {
    await goTo(page, '/dashboard/live/events');
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Payment methods' }).click();
    await page.getByText('The connection is lost.').first().waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'Payment methods' }).waitFor();
    await page.getByText('The connection is lost.').first().waitFor({ state: 'detached' });
  });

  test('nothing wrong was written into the console, and nothing was asked of another address', () => {
    const wrong = watched.faults.filter((fault) => !/ERR_INTERNET_DISCONNECTED/.test(fault));
    expect(wrong).toEqual([]);
  });
});
