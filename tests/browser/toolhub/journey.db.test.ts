// A person's way through Toolhub's dashboard, in a real browser.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, signUp } from '../../../services/toolhub/test/accounts.ts';
import { seriousViolations } from '../axe.ts';
import { hasChromium, openPage, startChromium, type WatchedPage } from '../chromium.ts';
import { customerPages, publicPages } from './pages.ts';
import { type Dashboard, startDashboard, VENDOR_TOKEN } from './rig.ts';

const STEP_MS = 20_000;
const EMAIL = 'ada@example.com';
const PASSWORD = 'a long enough password';
/** Pages that look otherwise while there is nothing to show. */
const emptyPages: ReadonlySet<string> = new Set([
  '/',
  '/connections',
  '/webhooks',
  '/billing',
  '/tokens',
  '/approvals',
]);

describe.runIf(hasChromium)('the dashboard of Toolhub', () => {
  let hub: Dashboard;
  let chromium: Browser;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    hub = await startDashboard();
    chromium = await startChromium();
    watched = await openPage(chromium, hub.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    page = watched.page;
    page.setDefaultTimeout(STEP_MS);
  }, 120_000);

  afterAll(async () => {
    await chromium?.close();
    await hub?.stop();
  });

  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const go = async (link: string, title = link) => {
    await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click();
    await heading(title);
  };

  test('[TH-11.21] from the front door to an account, verified by the link in the mail', {
    timeout: 60_000,
  }, async () => {
    await page.goto('/');
    await page.getByRole('link', { name: 'Sign up' }).first().click();
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByRole('textbox', { name: 'Password' }).fill('short');
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByText('10').first().waitFor();
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByText('First steps').waitFor();
    await page.goto(await hub.linkInMail(EMAIL));
    await page.getByText('Verified. Thank you!').waitFor();
    await page.getByRole('link', { name: 'Go on' }).click();
    await heading('Overview');
    expect(await page.getByText('Please open the link').count()).toBe(0);
  });

  test('[TH-11.22] an account is connected by a form that tries it first', { timeout: 60_000 }, async () => {
    await page.getByRole('link', { name: 'Connect an account' }).first().click();
    await heading('Connections');
    await page.getByRole('link', { name: 'Connect: Mastodon' }).click();
    await heading('Mastodon');
    await page.getByLabel('Instance url').fill('https://social.test');
    await page.getByLabel('Access token').fill('wrong');
    await page.getByRole('button', { name: 'Test and connect' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Access token').fill(VENDOR_TOKEN);
    await page.getByRole('button', { name: 'Test and connect' }).click();
    await page.getByText('@ada@social.test').waitFor();
  });

  test('[TH-11.23] a tool is tried, counted, and seen in the overview', { timeout: 60_000 }, async () => {
    await go('Tools');
    await page.getByLabel('Search', { exact: true }).fill('mastodon_list_notif');
    await page.getByLabel('Search', { exact: true }).press('Enter');
    await page.getByRole('link', { name: 'List notifications' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Done.').waitFor();
    await go('Overview');
    await page.getByText('1 of 1,000 calls').waitFor();
    await page.getByText('mastodon_list_notifications').waitFor();
    await page.reload();
    await page.getByText('1 of 1,000 calls').waitFor();
  });

  test('[TH-11.24] the secret of a webhook is shown once', { timeout: 60_000 }, async () => {
    await go('Webhooks');
    await page.getByLabel('Address').fill(`${hub.receiver.url}/hooks`);
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    const secret = (await page.getByText(/^whsec_/).textContent()) ?? '';
    await page.getByRole('dialog').getByRole('button', { name: /^Copy/ }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('Delivered', { exact: true }).waitFor();
    expect(hub.receiver.at('/hooks').map(({ body }) => body.type)).toContain('webhook.test');
    await page.reload();
    await page.getByText('Shown once, when it was made.').waitFor();
    expect(await page.getByText(secret).count()).toBe(0);
  });

  test('[TH-11.25] an expired credential has an amber badge, and a new one makes it green', {
    timeout: 60_000,
  }, async () => {
    await hub.database.database.query(`update credentials set status = 'expired'`);
    await go('Connections');
    await page.reload();
    await page.getByText('Token expired').waitFor();
    await page.getByRole('link', { name: 'Reconnect: Mastodon' }).click();
    await page.getByLabel('Instance url').fill('https://social.test');
    await page.getByLabel('Access token').fill(VENDOR_TOKEN);
    await page.getByRole('button', { name: 'Test and connect' }).click();
    await page.getByText('Connected.').waitFor();
    await go('Connections');
    await page.getByRole('region', { name: 'Mastodon' }).getByText('OK').waitFor();
  });

  test('[TH-11.26] an assistant is connected through consent to snippets', { timeout: 60_000 }, async () => {
    await go('Assistants');
    await page.getByRole('link', { name: 'Make snippets' }).click();
    await page.getByRole('button', { name: /allow/i }).click();
    await page.getByText('claude mcp add').first().waitFor();
    await page.goto('/tokens');
    await page.getByText('AI client, connected').waitFor();
  });

  test('[TH-11.12] a call that waits is seen whole, allowed, and runs once', {
    timeout: 60_000,
  }, async () => {
    const cookie = await cookieOf(page);
    const made = await call<{ token: string }>(`${hub.url}/api/tokens`, { cookie, body: { name: 'Robot' } });
    await go('Approvals');
    await page.getByRole('switch', { name: 'Everything that sends or publishes' }).click({ force: true });
    await page.getByText('Saved.').waitFor();
    const post = (more: object) =>
      callAs(hub.url, made.body.token, 'mastodon_create_status', { text: 'Shall this go out?', ...more });
    const waiting = await post({});
    expect(waiting.error).toMatchObject({ code: 'approval_required' });
    await page.goto(waiting.error?.approval_url ?? '');
    await page.getByText('Shall this go out?').waitFor();
    await page.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('Allowed: the assistant can run it now.').waitFor();
    const before = hub.vendor.statuses.size;
    expect((await post({ approval_id: waiting.error?.approval_id })).error).toBeUndefined();
    expect(hub.vendor.statuses.size).toBe(before + 1);
  });

  test('[TH-11.27] no page has a serious fault, for a full account and for a new one', {
    timeout: 300_000,
  }, async () => {
    const stranger = await signUp(hub.url);
    const [name = '', value = ''] = stranger.cookie.split('=');
    const other = await openPage(chromium, hub.url, {
      viewport: { width: 390, height: 780 },
      isMobile: true,
    });
    const found: string[] = [];
    const inspect = async ({ page: shown }: WatchedPage, path: string) => {
      await shown.goto(path);
      await shown.getByRole('heading', { level: 1 }).waitFor();
      expect(await shown.getByRole('heading', { level: 1 }).count(), path).toBe(1);
      found.push(...(await seriousViolations(shown)).map((fault) => `${path}: ${fault}`));
    };
    for (const path of Object.values(publicPages)) await inspect(other, path);
    await other.page.context().addCookies([{ name, value, url: hub.url }]);
    for (const path of Object.values(customerPages)) {
      await inspect(watched, path);
      if (emptyPages.has(path)) await inspect(other, path);
      const isWider = await other.page.evaluate('document.body.scrollWidth > window.innerWidth + 1');
      if (isWider) found.push(`${path}: wider than a phone`);
    }
    expect(found).toEqual([]);
    expect([...watched.faults, ...other.faults]).toEqual([]);
  });

  test('[TH-11.28] the first load is at most 300 KB of script', { timeout: 30_000 }, async () => {
    const fresh = await openPage(chromium, hub.url);
    let bytes = 0;
    fresh.page.on('response', (response) => {
      if (response.url().endsWith('.js')) bytes += Number(response.headers()['content-length'] ?? 0);
    });
    await fresh.page.goto('/');
    await fresh.page.getByRole('heading', { level: 1 }).waitFor();
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(300_000);
  });

  test('[TH-11.29] after the session has ended one comes back to where one was', {
    timeout: 60_000,
  }, async () => {
    await page.goto('/audit?outcome=success');
    await call(`${hub.url}/api/auth/logout`, { cookie: await cookieOf(page), body: {} });
    await page.reload();
    await heading('Log in');
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await heading('Audit log');
    expect(new URL(page.url()).search).toBe('?outcome=success');
  });
});

interface CallAnswer {
  error?: { code: string; approval_id?: string; approval_url?: string };
}

/** As an assistant calls a tool. */
async function callAs(url: string, token: string, name: string, args: object): Promise<CallAnswer> {
  const answer = await call<{ result: { structuredContent: CallAnswer } }>(`${url}/mcp`, {
    token,
    headers: { accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
  });
  return answer.body.result.structuredContent;
}

async function cookieOf(page: Page): Promise<string> {
  const cookies = await page.context().cookies();
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}
