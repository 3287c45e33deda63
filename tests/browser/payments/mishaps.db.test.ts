// What goes wrong while somebody works: it is said at the place, recovered from by itself, and nothing is sent twice.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, type Harness, type Instance } from '../../contract/payments/harness.ts';
import { nextMail, openBrowser, PASSWORD, signUp, verifyAddress } from '../../contract/payments/person.ts';
import { hasChromium, isDrawn, openPage, startChromium } from '../chromium.ts';
import { testGoingOn } from './going-on.ts';
import { startDashboard } from './rig.ts';
import { testReach } from './within-reach.ts';

const SLOW_MACHINE_MS = 90_000;

describe.runIf(hasChromium)('mishaps at the dashboard', { timeout: SLOW_MACHINE_MS }, () => {
  let dashboard: Harness;
  let chromium: Chromium;
  let again: Instance | undefined;
  let url: string;
  let owner: Awaited<ReturnType<typeof signUp>>;

  beforeAll(async () => {
    [dashboard, chromium] = await Promise.all([startDashboard(), startChromium()]);
    url = dashboard.url.replace('127.0.0.1', 'localhost');
    owner = await signUp(dashboard, { name: 'Ada Lovelace', organisation: 'Engines' });
    await verifyAddress(dashboard, owner);
  }, SLOW_MACHINE_MS);
  afterAll(async () => {
    await chromium?.close();
    await dashboard?.stop();
  });

  async function openAs(cookie: string | undefined): Promise<Page> {
    const { page } = await openPage(chromium, url);
    page.setDefaultTimeout(30_000);
    const [name = '', value = ''] = (cookie ?? '').split('=');
    await page.context().addCookies([{ name, value, url }]);
    return page;
  }

  async function fillPayment(page: Page, dollars: string): Promise<void> {
    await page.goto('/dashboard/payments/new');
    await page.getByLabel('Amount in USD').fill(dollars);
    await page.getByLabel('From payment method').fill('pm_alice');
    await page.getByLabel('To payment method').fill('pm_bob');
    // The quote is asked for when the ids are whole.
    await page.getByLabel('Description').fill('Mishap');
  }

  const send = (page: Page) => page.getByRole('button', { name: 'Send payment' }).click();

  async function paymentsOf(amount: number, status = '%'): Promise<number> {
    const { rows } = await (again ?? dashboard).database.query<{ n: number }>(
      'select count(*)::int as n from payments where amount = $1 and status like $2',
      [amount, status],
    );
    return rows[0]?.n ?? 0;
  }

  test('[P-9.15] before live access is approved live pages say so and lead to it, and offer nothing that would be refused', async () => {
    const page = await openAs(owner.cookie);
    await page.goto('/dashboard/live/payments/new');
    await page.getByText('Live payments need live access').waitFor();
    expect(await page.getByLabel('Amount in USD').count()).toBe(0);
    const banner = page.getByRole('alert').filter({ hasText: 'has no live access yet' });
    const offered = page.getByRole('main').getByRole('button', { name: /^(Add|Make|New)/ });
    for (const [path, empty] of [
      ['payments', 'No payments yet'],
      ['payment-methods', 'No payment methods yet'],
      ['webhooks', 'No endpoints yet'],
    ] as const) {
      await page.goto(`/dashboard/live/${path}`);
      await page.getByText(empty).waitFor();
      await banner.waitFor();
      expect([path, await offered.count()]).toEqual([path, 0]);
      expect(await page.getByRole('link', { name: 'New payment' }).count()).toBe(0);
    }
    await banner.getByRole('link', { name: 'Ask for it in the settings.' }).click();
    await page.getByRole('button', { name: 'Ask for live access' }).click();
    await page.getByText('we are looking at your organisation').first().waitFor();
    // The form has gone: the keyboard goes on at its heading.
    await page.locator('h2:focus', { hasText: 'Live access' }).waitFor();
    // Whoever waits hears of the answer on the page.
    await page.goto('/dashboard/live/payment-methods');
    const path = `/v1/admin/organisations/${owner.organisationId}/live_access`;
    await dashboard.call('POST', path, { key: ADMIN_TOKEN, body: { approved: true } });
    await page.getByRole('button', { name: 'Add payment method' }).first().waitFor();
    expect(await banner.count()).toBe(0);
    await page.context().close();
  });

  test('[P-9.18] an answer that is lost is not mistaken for a refusal: sending again makes no second payment', async () => {
    const page = await openAs(owner.cookie);
    await fillPayment(page, '11.11');
    let lost = 0;
    await page.route('**/v1/payments', async (route) => {
      if (route.request().method() !== 'POST' || lost > 0) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort('connectionreset');
    });
    await send(page);
    await page.getByText('No answer came').waitFor();
    await expect.poll(() => paymentsOf(1_111)).toBe(1);
    await send(page);
    await page.waitForURL(/\/payments\/pay_/);
    expect(await paymentsOf(1_111)).toBe(1);
    await page.context().close();
  });

  test('[P-9.18] what happens before the line of events is open, or while it cannot be gone on with, is shown as well', async () => {
    const page = await openAs(owner.cookie);
    const line = Promise.withResolvers<void>();
    await page.route('**/v1/events/stream', async (route) => {
      await line.promise;
      return route.continue();
    });
    await fillPayment(page, '12.12');
    await send(page);
    await page.waitForURL(/\/payments\/pay_/);
    await expect.poll(() => paymentsOf(1_212, 'completed'), { timeout: 20_000 }).toBe(1);
    line.resolve();
    await page.locator('.mantine-Timeline-root').getByText('Completed').waitFor();
    // The sandbox begins anew: the last event that this page heard of is known no more.
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page
      .getByRole('link', { name: /^Payment pay_/ })
      .first()
      .waitFor();
    expect((await owner.call('POST', '/v1/sandbox/reset', {})).status).toBeLessThan(300);
    await page.getByText('No payments yet').waitFor();
    const order = {
      ...{ amount: 1_313, currency: 'USD', description: 'Elsewhere' },
      ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: 'pm_bob' } },
    };
    const headers = { 'idempotency-key': 'elsewhere' };
    const accepted = await owner.call('POST', '/v1/payments', order, { headers });
    expect(accepted.status).toBeLessThan(300);
    await page.getByRole('row', { name: /Elsewhere/ }).waitFor();
    await page.context().close();
  });

  test('the page of another payment begins anew: nothing that was filled in for the one before is sent for it', async () => {
    const pay = async (amount: number) => {
      const order = {
        ...{ amount, currency: 'USD', rail: 'rtp' },
        ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: 'pm_bob' } },
      };
      const headers = { 'idempotency-key': `begins anew ${amount}` };
      expect((await owner.call('POST', '/v1/payments', order, { headers })).status).toBe(202);
      await expect.poll(() => paymentsOf(amount, 'completed'), { timeout: 20_000 }).toBe(1);
    };
    await pay(1_414);
    await pay(1_515);
    const page = await openAs(owner.cookie);
    await page.goto('/dashboard/payments');
    await page.getByRole('link', { name: /^Payment pay_.*\$14\.14/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Payment of $14.14' }).waitFor();
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByRole('link', { name: /^Payment pay_.*\$15\.15/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Payment of $15.15' }).waitFor();
    // Past the list, to a payment that is known already.
    await page.evaluate('history.go(-2)');
    await page.getByRole('heading', { level: 1, name: 'Payment of $14.14' }).waitFor();
    await page.getByRole('button', { name: 'Refund' }).click();
    expect(await page.getByRole('dialog').getByLabel('Amount in USD').inputValue()).toBe('14.14');
    await page.context().close();
  });

  test('[P-9.18] a role that is taken away while a form is open is said at the form, and the page follows', async () => {
    const invited = await owner.call('POST', '/v1/invitations', {
      email: 'dev@example.com',
      role: 'developer',
    });
    expect(invited.status).toBe(201);
    const { token } = await nextMail(dashboard, 'dev@example.com', /invite/i);
    const developer = openBrowser(dashboard);
    const joined = await developer.call('POST', '/v1/session/signup', {
      ...{ email: 'dev@example.com', password: PASSWORD, name: 'Dev', invitation: token },
    });
    const page = await openAs(developer.cookie);
    await fillPayment(page, '22.22');
    await page.getByText('Why this rail').first().waitFor();
    const changed = await owner.call('PATCH', `/v1/members/${joined.body.user.id}`, { role: 'viewer' });
    expect(changed.status).toBe(200);
    const followed = page.waitForResponse(
      async (answer) => answer.url().endsWith('/v1/session') && /"viewer"/.test(await answer.text()),
    );
    await send(page);
    await followed;
    await isDrawn(page);
    // The page knows the new role by now, and has kept the form with its reason.
    await page.getByRole('alert').filter({ hasText: 'role' }).first().waitFor();
    expect(await page.getByLabel('Amount in USD').inputValue()).toBe('22.22');
    expect(await paymentsOf(2_222)).toBe(0);
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'New payment' }).count()).toBe(0);
    await owner.call('PATCH', `/v1/members/${joined.body.user.id}`, { role: 'developer' });
    const endpoint = await owner.call('POST', '/v1/webhook_endpoints', { url: `${url}/hooks` });
    await page.goto(`/dashboard/webhooks/${endpoint.body.id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await owner.call('PATCH', `/v1/members/${joined.body.user.id}`, { role: 'viewer' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => dialog.count()).toBe(0);
    // A dialog goes with the button that opened it, and what was said in it: that the role is another one stays.
    await page.getByText('Your role here is another one now: Viewer.').waitFor();
    await page.context().close();
  });

  // While the owner is logged in.
  testGoingOn(() => ({ dashboard, owner, openAs }));
  testReach(() => ({ dashboard, owner, openAs }));

  test('[P-9.18] another tab switches the organisation: this one sends nothing to the wrong one, and follows', async () => {
    const made = await owner.call('POST', '/v1/session/organisations', { name: 'Looms' });
    expect(made.status).toBe(201);
    await owner.call('POST', '/v1/session/organisation', { organisation_id: owner.organisationId });
    const page = await openAs(owner.cookie);
    // Without the line of events, which would tell the page of it before anything is sent.
    await page.route('**/v1/events/stream', (route) => route.fulfill({ status: 503 }));
    await fillPayment(page, '33.33');
    await page.getByText('Why this rail').first().waitFor();
    const other = await page.context().newPage();
    await other.goto('/dashboard');
    await other.getByRole('button', { name: /Switch organisation: Engines/ }).click();
    await other.getByRole('menuitem', { name: /Looms/ }).click();
    await other.getByRole('button', { name: /Switch organisation: Looms/ }).waitFor();
    const told = page.getByText('You now look at Looms').waitFor();
    await send(page);
    await told;
    await page.getByRole('button', { name: /Switch organisation: Looms/ }).waitFor();
    expect(await paymentsOf(3_333)).toBe(0);
    // What was typed for the one cannot be sent for the other by a second press.
    expect(await page.getByLabel('Amount in USD').inputValue()).toBe('');
    // Whoever logs out in one tab is asked to log in in the other, and comes back to where that one was.
    await other.getByRole('button', { name: 'Your account' }).click();
    await other.getByRole('menuitem', { name: 'Log out' }).click();
    await other.waitForURL(/\/login/);
    await page.getByRole('link', { name: 'Events' }).click();
    await page.waitForURL(/\/dashboard\/login\?next=/);
    expect(new URL(page.url()).searchParams.get('next')).toBe('/dashboard/events');
    await page.context().close();
  });

  test('[P-9.18] another tab logs in as a colleague: no form keeps what was typed by the one before', async () => {
    const first = await signUp(dashboard, { name: 'Ada Lovelace', organisation: 'Engines' });
    await verifyAddress(dashboard, first);
    const email = 'colleague@example.com';
    const invited = await first.call('POST', '/v1/invitations', { email, role: 'owner' });
    expect(invited.status).toBe(201);
    const { token } = await nextMail(dashboard, email, /invite/i);
    const second = openBrowser(dashboard);
    const body = { email, password: PASSWORD, name: 'Charles', invitation: token };
    expect((await second.call('POST', '/v1/session/signup', body)).status).toBe(201);
    const page = await openAs(first.cookie);
    await page.clock.install();
    await page.goto('/dashboard/settings');
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('Typed by the first one');
    const [cookie = '', value = ''] = (second.cookie ?? '').split('=');
    await page.context().addCookies([{ name: cookie, value, url }]);
    // Whoever comes back to this tab after a while: what it shows is read again.
    await page.clock.fastForward(10_000);
    await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByText('You are logged in as Charles now.').waitFor();
    await expect.poll(() => name.inputValue()).toBe('Charles');
    await page.context().close();
  });

  test('[P-9.18] the server restarts in the middle: said, waited for, and gone on with by itself', async () => {
    const back = openBrowser(dashboard);
    await back.call('POST', '/v1/session/login', { email: owner.email, password: PASSWORD });
    const page = await openAs(back.cookie);
    await page.goto('/dashboard/payments');
    await page.getByText('Updates as they happen').waitFor();
    await fillPayment(page, '44.44');
    await page.getByText('Why this rail').first().waitFor();
    await dashboard.stopServing();
    await send(page);
    await page.getByText('No answer came').waitFor();
    await page.getByText('The connection is lost.').first().waitFor();
    // At the same address as before.
    again = await dashboard.another();
    await page.getByText('The connection is lost. Trying').first().waitFor({ state: 'detached' });
    // What was typed is still there.
    await send(page);
    await page.waitForURL(/\/payments\/pay_/);
    await page.locator('.mantine-Timeline-root').getByText('Completed').waitFor();
    expect(await paymentsOf(4_444)).toBe(1);
    await page.context().close();
  });
});
