// What stands on a page stays true: for whom it is, on which day, and while it is read.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { type Account, call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { openPage } from '../chromium.ts';
import type { Serving } from './rig.ts';
import { addAuditEntries, addInvoice, callMastodon, connectMastodon, LOOKED_AT_MAX } from './seed.ts';
import { heading, panel, STEP_MS } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;
/** The longest that a page waits before it asks again for what it could not read. */
const AGAIN_MS_MAX = 60_000;
const AWAY = {
  ...{ status: 503, contentType: 'application/problem+json' },
  body: JSON.stringify({
    ...{ type: 'about:blank', title: 'Unavailable', status: 503, code: 'unavailable' },
    ...{ detail: 'Away for a moment.', request_id: 'req_1' },
  }),
};

export function testStayingTrue(running: () => Serving): void {
  async function openAs(account: Account, options: BrowserContextOptions = {}): Promise<Page> {
    const { hub, chromium } = running();
    const { page } = await openPage(chromium, hub.url, options);
    await become(page, account);
    page.setDefaultTimeout(STEP_MS);
    return page;
  }

  /** As when another tab logs in. */
  async function become(page: Page, { cookie }: Account): Promise<void> {
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: running().hub.url }]);
  }

  test('[TH-11.34] days of billing are those of the invoice, wherever somebody looks', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const one = await addInvoice(hub, account, { monthsAgo: 1, issuedAt: '2026-03-01T00:10:00Z' });
    const plan = await call<{ resets_at: string }>(`${hub.url}/api/plan`, { cookie: account.cookie });
    const format = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
    const resets = format.format(new Date(plan.body.resets_at));
    const page = await openAs(account, { timezoneId: 'America/Los_Angeles', locale: 'en-US' });
    await page.goto('/');
    await page.getByText(`Resets on ${resets}`).waitFor();
    await page.goto('/billing');
    await page.getByRole('row', { name: new RegExp(`${one.number}.*Mar 1, 2026`) }).waitFor();
    await page.getByRole('link', { name: one.number, exact: true }).click();
    await heading(page, 'Invoice');
    await page.getByRole('definition').filter({ hasText: 'Mar 1, 2026' }).waitFor();
    await page.context().close();
  });

  test('[TH-11.35] another tab logs in as somebody else: no form keeps what was the first one’s', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const [first, second] = [await signUp(hub.url), await signUp(hub.url)];
    for (const [{ cookie }, company] of [
      [first, 'First Ltd'],
      [second, 'Second Ltd'],
    ] as const)
      await call(`${hub.url}/api/billing-details`, {
        ...{ method: 'PUT', cookie, body: { company, address: null, tax_id: null } },
      });
    await call(`${hub.url}/api/me`, { method: 'PATCH', cookie: second.cookie, body: { name: 'Second' } });
    const page = await openAs(first);
    await page.clock.install();
    for (const [path, label, own] of [
      ['/billing', 'Company', 'Second Ltd'],
      ['/settings', 'Name', 'Second'],
    ] as const) {
      await become(page, first);
      await page.goto(path);
      const field = page.getByRole('textbox', { name: label, exact: true });
      await field.fill('Typed for the first one');
      await become(page, second);
      // Whoever comes back to this tab after a while: what it shows is read again.
      await page.clock.fastForward(10_000);
      await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
      await expect.poll(() => field.inputValue()).toBe(own);
    }
    await page.context().close();
  });

  test('[TH-11.37] a field that is saved takes no other with it, and the others show what another window made of them', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    const details = `${hub.url}/api/billing-details`;
    const store = (body: object) => call(details, { method: 'PUT', cookie, body });
    await store({ company: 'Engines', address: '1 Main Street', tax_id: null });
    const page = await openAs(account);
    await page.goto('/billing');
    const form = page.locator('form', { has: page.getByLabel('Company') });
    await form.getByLabel('Tax id').fill('XX123');
    await store({ company: 'Analytical Engines', address: null, tax_id: null });
    await form.getByRole('button').click();
    await page.getByText('Saved.').waitFor();
    expect((await call(details, { cookie })).body).toMatchObject({
      ...{ company: 'Analytical Engines', address: null, tax_id: 'XX123' },
    });
    await expect.poll(() => form.getByLabel('Company').inputValue()).toBe('Analytical Engines');
    expect(await form.getByLabel('Address').inputValue()).toBe('');
    await page.context().close();
  });

  test('[TH-11.36] terms of a plan that another operator changed meanwhile stay when one of the others is saved', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub, chromium } = running();
    const terms = { name: 'Crew', included_calls: 10, overage_cents_per_1000: 5, hard_stop: false };
    const store = (price: number) =>
      call(`${hub.url}/api/admin/plans/crew`, {
        ...{ method: 'PUT', token: ADMIN_TOKEN, body: { ...terms, price_cents: price } },
      });
    await store(100);
    const { page } = await openPage(chromium, hub.url);
    page.setDefaultTimeout(STEP_MS);
    await page.goto('/admin?tab=plans');
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('button', { name: 'Change Crew' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('The crew');
    await store(250);
    await page.getByRole('button', { name: 'Save the plan' }).click();
    await page.getByRole('row', { name: /The crew \(crew\) \$2\.50/ }).waitFor();
    await page.context().close();
  });

  test('[TH-11.29] the start shows the front door as soon as the session has ended', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const page = await openAs(account);
    await page.goto('/');
    await heading(page, 'Overview');
    await call(`${hub.url}/api/auth/logout`, { cookie: account.cookie, body: {} });
    await heading(page, 'Your assistant, with your accounts');
    await page.context().close();
  });

  test('a log in which nothing was found so far says so, and goes on looking', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    await addAuditEntries(hub, account, LOOKED_AT_MAX);
    const page = await openAs(account);
    await page.goto('/audit?action=account.created');
    await page.getByText('Nothing found so far').waitFor();
    expect(await page.getByText('Nothing matches these filters').count()).toBe(0);
    await page.getByRole('button', { name: 'Look further' }).click();
    await page.getByRole('cell', { name: 'Account made' }).waitFor();
    await page.context().close();
  });

  test('what could not be read at first is said for as long as that is so, and comes by itself', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    for (const [path, asked, comes] of [
      // A list that follows what happens, an object, and who is there at all.
      ['/audit', /\/api\/audit(\?|$)/, 'Account made'],
      ['/billing', /\/api\/billing-details$/, 'Company'],
      ['/settings', /\/api\/me$/, 'Profile'],
    ] as const) {
      const page = await openAs(account);
      await page.clock.install();
      const secondTry = Promise.withResolvers<void>();
      let tries = 0;
      await page.route(asked, async (route) => {
        tries += 1;
        if (tries > 2) return route.continue();
        if (tries === 2) await secondTry.promise;
        return route.fulfill(AWAY);
      });
      await page.goto(path);
      const problem = page.getByRole('alert').filter({ hasText: 'Away for a moment.' }).first();
      await problem.evaluate((alert) => alert.setAttribute('data-first', ''));
      await page.clock.fastForward(AGAIN_MS_MAX);
      await expect.poll(() => tries).toBe(2);
      // Neither gone nor said anew while it is asked again, with the button that somebody may be at.
      await problem.getByRole('button', { name: 'Try again' }).focus();
      expect(await page.locator('[data-first]').count(), path).toBe(1);
      secondTry.resolve();
      await expect
        .poll(async () => {
          await page.clock.fastForward(AGAIN_MS_MAX);
          return tries;
        })
        .toBeGreaterThan(2);
      await page.getByText(comes).first().waitFor();
      expect(await problem.count(), path).toBe(0);
      await page.context().close();
    }
  });

  test('[TH-11.23] what was called elsewhere is counted without a reload', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    await connectMastodon(hub, account);
    const run = () => callMastodon(hub, account);
    await run();
    const page = await openAs(account);
    await page.clock.install();
    await page.goto('/');
    const calls = page.locator('.ui-figures').getByText('2', { exact: true });
    await page.locator('.ui-figures').getByText('1', { exact: true }).first().waitFor();
    await run();
    await page.clock.fastForward(60_000);
    await calls.waitFor();
    await page.context().close();
  });

  test('[TH-11.10] an account is not said to be gone while it is being read', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    const { token } = await makeToken(hub.url, account);
    const put = (path: string, body: object) => call(`${hub.url}${path}`, { method: 'PUT', cookie, body });
    await put('/api/credentials/telegram?verify=false', { bot_token: '4244:made-up' });
    await put('/api/approvals/rules', { send: true, delete: true, tools: {} });
    await callTool(hub.url, token, 'telegram_send_message', { chat_id: '1', text: 'Soon' });
    const page = await openAs(account);
    const read = Promise.withResolvers<void>();
    await page.route('**/api/credentials?*', async (route) => {
      await read.promise;
      return route.continue();
    });
    await page.goto('/approvals');
    await page.getByText('wants to send or publish something').waitFor();
    expect(await page.getByText('not connected any more').count()).toBe(0);
    read.resolve();
    await panel(page, 'What must be asked for').waitFor();
    await put('/api/credentials/telegram?verify=false', { bot_token: '4244:made-up' });
    await call(`${hub.url}/api/credentials/telegram`, { method: 'DELETE', cookie });
    await page.getByText('not connected any more').waitFor();
    await page.context().close();
  });
}
