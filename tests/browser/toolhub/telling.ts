// What the pages tell of money, calls and accounts is what was or will be done.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { type Account, call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { openPage } from '../chromium.ts';
import type { Serving } from './rig.ts';
import { panel, STEP_MS, said } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;

export function testTelling(running: () => Serving): void {
  async function openAs({ cookie }: Account): Promise<Page> {
    const { hub, chromium } = running();
    const { page } = await openPage(chromium, hub.url);
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: hub.url }]);
    page.setDefaultTimeout(STEP_MS);
    return page;
  }

  test('[TH-11.10] a call that was refused is not said to be sent', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    const { token } = await makeToken(hub.url, account);
    const put = (path: string, body: object) => call(`${hub.url}${path}`, { method: 'PUT', cookie, body });
    await put('/api/credentials/telegram?verify=false', { bot_token: '4243:made-up' });
    await put('/api/approvals/rules', { send: true, delete: true, tools: {} });
    await callTool(hub.url, token, 'telegram_send_message', { chat_id: '1', text: 'Better not' });
    const page = await openAs(account);
    await page.goto('/approvals');
    await page.getByText('This is sent, and nothing else:').waitFor();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    await page.goto('/approvals?status=denied');
    await page.getByText('You refused it. Nothing of this was sent:').waitFor();
    await page.getByText('wanted to send or publish something').waitFor();
    expect(await page.getByText('This is sent').count()).toBe(0);
    await page.context().close();
  });

  test('[TH-11.27] a page of what does not exist, or was not read yet, has its heading and the title of the window', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const page = await openAs(await signUp(running().hub.url));
    const headings = () => page.getByRole('heading', { level: 1 }).allTextContents();
    await page.goto('/tools/nothing');
    await page.getByText('There is nothing at this address').waitFor();
    expect([await headings(), await page.title()]).toEqual([['Tool'], 'Tool · Toolhub']);
    await page.goto('/connections/nothing');
    await page.getByText('There is nothing at this address').waitFor();
    expect([await headings(), await page.title()]).toEqual([['Not found'], 'Not found · Toolhub']);
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/api\/(tools|platforms)/, async (route) => {
      await held;
      await route.continue();
    });
    for (const [path, heading] of [
      ['/tools/slack_send_message', 'Tool'],
      ['/connections/slack', 'Connection'],
    ] as const) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      expect(await headings()).toEqual([heading]);
    }
    answer();
    await page.getByRole('heading', { level: 1, name: 'Slack' }).waitFor();
    await page.context().close();
  });

  test('a test whose answer was lost may have been sent: the page says so, and shows it', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const body = { webhook_url: `${hub.receiver.url}/lost` };
    await call(`${hub.url}/api/webhooks/config`, { cookie: account.cookie, body });
    const page = await openAs(account);
    let pressed = 0;
    await page.route('**/api/webhooks/test', async (route) => {
      pressed += 1;
      await route.fetch();
      return route.abort('connectionreset');
    });
    await page.goto('/webhooks');
    // Twice at once, as it is one test that is wanted.
    await page.getByRole('button', { name: 'Send a test' }).evaluate((button: { click: () => void }) => {
      button.click();
      button.click();
    });
    await said(page, /It may have been sent: look at the deliveries/);
    const deliveries = page.getByRole('table', { name: 'Deliveries' });
    await deliveries.getByText('webhook.test').waitFor();
    expect(pressed).toBe(1);
    expect(await page.getByText('nothing is done twice').count()).toBe(0);
    await page.context().close();
  });

  test('[TH-11.34] a cap below the price of a plan says what it does, before and after', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    const plan = { plan: 'starter', spend_cap_cents: 5_000 };
    await call(`${hub.url}/api/plan`, { method: 'PUT', cookie, body: plan });
    const page = await openAs(account);
    await page.goto('/billing');
    await page.getByRole('button', { name: 'Change to Scale' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Your spend cap of $50.00 is below that price').waitFor();
    await dialog.getByRole('button', { name: 'Keep my plan' }).click();
    const cap = panel(page, 'Spend cap');
    expect(await cap.getByRole('note').count()).toBe(0);
    await cap.getByLabel('Cap a month').fill('10');
    await cap.getByRole('button', { name: 'Save' }).click();
    await cap.getByText('Starter alone costs $29.00 a month').waitFor();
    await page.context().close();
  });

  test('[TH-11.37] the log names what is gone, and who deletes the account is told before and after', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    const made = await call<{ id: string }>(`${hub.url}/api/tokens`, { cookie, body: { name: 'Old' } });
    await call(`${hub.url}/api/tokens/${made.body.id}`, { method: 'DELETE', cookie });
    await call(`${hub.url}/api/plan`, { method: 'PUT', cookie, body: { plan: 'starter' } });
    const page = await openAs(account);
    await page.goto('/audit');
    await page.getByRole('link', { name: 'A token that is gone' }).first().waitFor();
    await page.getByRole('link', { name: 'Starter', exact: true }).waitFor();
    expect(await page.getByText(/^tok_/).count()).toBe(0);
    await page.goto('/settings');
    const form = page.locator('form', { has: page.getByRole('button', { name: 'Delete my account' }) });
    await form.getByText('Your address is not verified, so nothing is mailed to it').waitFor();
    await form.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await form.getByRole('button', { name: 'Delete my account' }).click();
    await page.getByRole('status').filter({ hasText: 'Your account is deleted.' }).waitFor();
    expect((await call(`${hub.url}/api/me`, { cookie })).status).toBe(401);
    await page.context().close();
  });
}
