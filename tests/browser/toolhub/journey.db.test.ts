// A person's way through Toolhub's dashboard, in a real browser.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPdf } from '../../../services/toolhub/src/invoices/test/pdf-text.ts';
import { call, signUp } from '../../../services/toolhub/test/accounts.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { answer } from '../../contract/toolhub/receiver.ts';
import { seriousViolations } from '../axe.ts';
import { hasChromium, openPage, startChromium, type WatchedPage } from '../chromium.ts';
import { testMishaps } from './mishaps.ts';
import { customerPages, publicPages } from './pages.ts';
import { type Dashboard, startDashboard, VENDOR_TOKEN } from './rig.ts';
import { addDeadLetter } from './seed.ts';

const STEP_MS = 20_000;
const EMAIL = 'ada@example.com';
const PASSWORD = 'a long enough password';
/** The rows of all tools are made alike, and there are many. */
const SOME_TOOLS = '/tools?platform=mastodon';
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
    [hub, chromium] = await Promise.all([startDashboard(), startChromium()]);
    watched = await openPage(chromium, hub.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    page = watched.page;
    page.setDefaultTimeout(STEP_MS);
  }, 120_000);

  afterAll(async () => {
    await chromium?.close();
    await hub?.stop();
  });

  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const panel = (title: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
  /** Among whatever else is said, such as what was done a moment ago. */
  const said = (words: RegExp) => page.getByRole('alert').filter({ hasText: words }).first().waitFor();
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

  test('[TH-11.32] a mailbox is connected: what is wrong is said at its place, and nothing is stored until it works', {
    timeout: 60_000,
  }, async () => {
    const { address, password, imapPort, smtpPort } = hub.mailbox;
    await go('Connections');
    await page.getByRole('link', { name: 'Connect: E-mail' }).click();
    await heading('E-mail');
    const side = (name: string) => page.getByRole('group', { name });
    const fill = async (name: string, host: string, port: number) => {
      await side(name).getByLabel('Server').fill(host);
      await side(name).getByLabel('Port').fill(String(port));
      await side(name).getByLabel('Encrypted from the start').setChecked(false);
    };
    await page.getByLabel('Your address').fill(address);
    await side('Reading (IMAP)').getByLabel('User name').fill(address);
    await side('Reading (IMAP)').getByRole('textbox', { name: 'Password' }).fill('wrong');
    await fill('Reading (IMAP)', '10.0.0.7', 143);
    await fill('Sending (SMTP)', '10.0.0.7', 587);
    const connect = page.getByRole('button', { name: 'Test and connect' });
    await connect.click();
    await page.getByText('TOOLHUB_EGRESS_ALLOW').first().waitFor();
    await fill('Reading (IMAP)', '127.0.0.1', imapPort);
    await fill('Sending (SMTP)', '127.0.0.1', smtpPort);
    await connect.click();
    await said(/password|log ?in|accept|refuse/i);
    expect(await page.getByText('What the last check said').count()).toBe(0);
    await side('Reading (IMAP)').getByRole('textbox', { name: 'Password' }).fill(password);
    await connect.click();
    await page.getByRole('heading', { name: 'Connection', exact: true }).waitFor();
    await page.getByText('OK', { exact: true }).waitFor();
  });

  test('[TH-11.32] a vendor that is down is said so where one connects', { timeout: 60_000 }, async () => {
    await page.goto('/connections/bluesky');
    await page.getByLabel('Service').fill('https://bsky.social');
    await page.getByLabel('Identifier').fill('ada.bsky.social');
    await page.getByLabel('App password').fill('abcd-efgh-ijkl-mnop');
    await page.getByRole('button', { name: 'Test and connect' }).click();
    await said(/not answer|unavailable|reach/i);
    expect(await page.getByRole('button', { name: 'Disconnect' }).count()).toBe(0);
  });

  test('[TH-11.23] a tool is tried, counted, and seen in the overview', { timeout: 60_000 }, async () => {
    await go('Tools');
    await panel('Mastodon').getByText('Connected', { exact: true }).waitFor();
    expect(
      await panel('Mastodon')
        .getByRole('link', { name: /onnect: / })
        .count(),
    ).toBe(0);
    const connect = panel('Bluesky').getByRole('link', { name: 'Connect: Bluesky' });
    expect(await connect.getAttribute('href')).toBe('/connections/bluesky');
    await page.getByLabel('Search', { exact: true }).fill('mastodon_list_notif');
    await page.getByLabel('Search', { exact: true }).press('Enter');
    await page.getByRole('link', { name: 'List notifications' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Done.').waitFor();
    await go('Overview');
    await page.getByText('1 of 1,000 calls').waitFor();
    await page.getByText('mastodon_list_notifications').waitFor();
    await page.goto('/tools/email_list_folders');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Done.').waitFor();
    await go('Overview');
    await page.getByText('2 of 1,000 calls').waitFor();
    await page.reload();
    await page.getByText('2 of 1,000 calls').waitFor();
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
    // The retries of this one go on for some seconds while other things are looked at.
    hub.receiver.on('/hooks', (response) => response.writeHead(500).end('no room'));
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('On its way', { exact: true }).first().waitFor();
    await page.reload();
    await page.getByText('Shown once, when it was made.').waitFor();
    expect(await page.getByText(secret).count()).toBe(0);
  });

  test('[TH-11.25] an expired credential has an amber badge, and a new one makes it green', {
    timeout: 60_000,
  }, async () => {
    await hub.database.database.query(
      `update credentials set expires_at = now() - interval '1 hour' where platform = 'mastodon'`,
    );
    await page.goto('/tools/mastodon_list_notifications');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('token_expired').first().waitFor();
    await page.getByRole('alert').getByRole('link').click();
    await heading('Mastodon');
    await go('Overview');
    await page.getByRole('link', { name: /^Reconnect: Mastodon/ }).waitFor();
    await go('Connections');
    await page.getByRole('region', { name: 'Mastodon' }).getByText('Token expired').waitFor();
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
    await page.getByRole('button', { name: 'Copy terminal command with browser login' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `claude mcp add --transport http toolhub ${hub.url}/mcp`,
    );
    await page.reload();
    await page.getByRole('heading', { name: 'The snippets were shown once' }).waitFor();
    await page.getByRole('link', { name: 'Make new snippets' }).waitFor();
    await page.goto('/tokens');
    await page.getByText('AI client, connected').waitFor();
    await go('Audit log');
    await page.getByText('Assistant “Toolhub connector”').first().waitFor();
    // What happens elsewhere is seen without a reload.
    const cookie = await cookieOf(page);
    await call(`${hub.url}/api/platforms/x`, { method: 'PUT', cookie, body: { enabled: true } });
    await page.getByRole('cell', { name: 'Platform switched on' }).waitFor();
  });

  test('[TH-11.12] a call that waits is seen whole, allowed, and runs once', {
    timeout: 60_000,
  }, async () => {
    const cookie = await cookieOf(page);
    const made = await call<{ token: string }>(`${hub.url}/api/tokens`, {
      cookie,
      body: { name: 'Token of Ada' },
    });
    await go('Approvals');
    await page
      .getByRole('switch', { name: 'Everything that sends or publishes', disabled: false })
      .press('Space');
    await page.getByText('Saved.').waitFor();
    const post = (more: object) =>
      callAs(hub.url, made.body.token, 'mastodon_create_status', { text: 'Shall this go out?', ...more });
    const waiting = await post({});
    expect(waiting.error).toMatchObject({ code: 'approval_required' });
    await page.goto('/');
    await page.getByRole('link', { name: /^Decide: A call waits/ }).waitFor();
    await page.goto(waiting.error?.approval_url ?? '');
    await page.getByText('“Token of Ada” wants to send or publish something').waitFor();
    await page.getByText('Shall this go out?').waitFor();
    await page.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('Allowed: the assistant can run it now.').waitFor();
    const before = hub.vendor.statuses.size;
    expect((await post({ approval_id: waiting.error?.approval_id })).error).toBeUndefined();
    expect(hub.vendor.statuses.size).toBe(before + 1);
  });

  test('[TH-11.34] a plan says what it will cost, and the invoice names both parties and how to pay', {
    timeout: 60_000,
  }, async () => {
    await go('Billing');
    await page.getByLabel('Company').fill('Analytical Engines Ltd');
    await page.getByRole('textbox', { name: 'Address' }).fill('12 St James Square\nLondon');
    await page.getByLabel('Tax id').fill('GB123456789');
    await panel('On your invoices').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').first().waitFor();
    await page.getByRole('button', { name: 'Change to Starter' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This month after the change').waitFor();
    await dialog.getByRole('button', { name: 'Change to Starter' }).click();
    await page.getByText('Changed.').waitFor();
    // As if that had been long ago.
    const { database } = hub.database;
    await database.query(`update customers set created_at = created_at - interval '100 days'`);
    await database.query(`update plan_changes set at = at - interval '90 days'`);
    const month = new Date();
    month.setUTCDate(0);
    const run = await call(`${hub.url}/api/admin/invoices/run`, {
      token: ADMIN_TOKEN,
      body: { period: month.toISOString().slice(0, 7) },
    });
    expect(run.body).toMatchObject({ created: 1 });
    await page.reload();
    await page.getByRole('link', { name: /^Pay INV-/ }).waitFor();
    await page.getByText('IBAN DE02 1203 0000 0000 2020 51').waitFor();
    const href = await page.getByRole('link', { name: /^PDF INV-/ }).getAttribute('href');
    const pdf = await (await page.request.get(href ?? '')).body();
    const said = readPdf(pdf).texts.map(({ text }) => text.trim());
    for (const text of [
      'Toolhub Ltd',
      'Tax id XX999999999',
      'Analytical Engines Ltd',
      'Tax id GB123456789',
      'How to pay',
    ])
      expect(said).toContain(text);
    await lookAt(pdf);
  });

  test('[TH-11.35] somebody else sees none of it', { timeout: 60_000 }, async () => {
    const { cookie } = await signUp(hub.url);
    const [name = '', value = ''] = cookie.split('=');
    const { page: other } = await openPage(chromium, hub.url);
    await other.context().addCookies([{ name, value, url: hub.url }]);
    const { rows } = await hub.database.database.query<{ id: string }>(`select id from approvals limit 1`);
    for (const [path, empty] of [
      ['/', '0 of 1,000 calls'],
      ['/connections', 'Read, send and organise your mail.'],
      ['/webhooks', 'Set up the webhook'],
      ['/billing', 'No invoices yet'],
      ['/tokens', 'No tokens yet'],
      ['/assistants', 'No client is connected yet'],
      [`/approvals?id=${rows[0]?.id}`, 'Not found'],
    ] as const) {
      await walkTo(other, path);
      await other.getByText(empty).first().waitFor();
      const text = (await other.locator('body').textContent()) ?? '';
      for (const theirs of [
        EMAIL,
        'Analytical Engines',
        '@ada@social.test',
        '/hooks',
        'INV-',
        'Token of Ada',
      ])
        expect(text, `${path} shows ${theirs}`).not.toContain(theirs);
    }
    await other.context().close();
  });

  test('[TH-11.33] a dead letter shows what was sent and what came back, and goes out again', {
    timeout: 60_000,
  }, async () => {
    await go('Webhooks');
    const letters = page.getByRole('table', { name: 'Dead letters' });
    await letters.getByText('webhook.test').waitFor({ timeout: 40_000 });
    // What happened meanwhile was not delivered either.
    const letter = letters.getByRole('row').filter({ hasText: 'webhook.test' });
    await letter.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('dialog').getByText('no room').first().waitFor();
    await page.getByRole('dialog').getByText('This is a test of the webhook.').waitFor();
    await page.keyboard.press('Escape');
    hub.receiver.on('/hooks', answer(204));
    const before = hub.receiver.at('/hooks').length;
    await letter.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('On its way again.').waitFor();
    await letter.waitFor({ state: 'detached' });
    await expect.poll(() => hub.receiver.at('/hooks').length).toBeGreaterThan(before);
  });

  test('[TH-11.36] the operator finds a customer, its invoices, plans, dead letters, jobs and platforms', {
    timeout: 60_000,
  }, async () => {
    const operator = await openPage(chromium, hub.url);
    const { page: shown } = operator;
    shown.setDefaultTimeout(STEP_MS);
    await shown.goto('/admin');
    await shown.getByLabel('Admin token').fill('wrong');
    await shown.getByRole('button', { name: 'Enter' }).click();
    await shown.getByRole('alert').waitFor();
    await shown.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await shown.getByRole('button', { name: 'Enter' }).click();
    await shown.getByRole('button', { name: `Open ${EMAIL}` }).click();
    await shown.getByRole('dialog').getByText('INV-').first().waitFor();
    await shown.getByRole('dialog').getByRole('button', { name: 'Mark as paid' }).click();
    await shown.getByRole('dialog').nth(1).waitFor();
    await shown.getByRole('dialog').last().getByRole('button', { name: 'Mark as paid' }).click();
    await shown.getByText('Paid', { exact: true }).first().waitFor();
    await shown.keyboard.press('Escape');
    // Before the list is first looked at: a list that was just read is not asked for again.
    const { rows } = await hub.database.database.query<{ id: string }>(
      'select id from customers where email = $1',
      [EMAIL],
    );
    const customerId = rows[0]?.id ?? '';
    await addDeadLetter(hub, customerId);
    for (const [tab, text] of [
      ['Plans', 'Starter (starter)'],
      ['Invoices', 'Invoice run'],
      ['Dead letters', 'Customers whose webhooks did not answer'],
      ['Jobs', 'invoices.monthly'],
      ['Platforms', 'Whether the platforms answer'],
    ] as const) {
      await shown.getByRole('tab', { name: tab }).click();
      await shown.getByText(text).first().waitFor();
      expect(await seriousViolations(shown, undefined, '[role=tabpanel]'), tab).toEqual([]);
    }
    await shown.getByRole('tab', { name: 'Invoices' }).click();
    await shown.getByRole('button', { name: 'Run' }).click();
    await shown.getByText('Would create').waitFor();
    await shown.getByRole('tab', { name: 'Plans' }).click();
    await shown.getByRole('button', { name: 'Make a plan' }).click();
    await shown.getByRole('dialog').getByLabel('Name').fill('Team');
    await shown.getByRole('dialog').getByLabel('Id').fill('team');
    await shown.getByRole('dialog').getByLabel('A month').fill('99');
    await shown.getByRole('button', { name: 'Save the plan' }).click();
    await shown.getByRole('row', { name: /Team \(team\) \$99\.00/ }).waitFor();
    await shown.getByRole('tab', { name: 'Dead letters' }).click();
    await shown.getByRole('button', { name: EMAIL, exact: true }).click();
    const before = hub.receiver.at('/hooks').length;
    await shown.getByRole('dialog').getByRole('button', { name: 'Send again' }).first().click();
    await shown.getByText('On its way again.').waitFor();
    await expect.poll(() => hub.receiver.at('/hooks').length).toBeGreaterThan(before);
    expect(operator.faults).toEqual([]);
    await shown.context().close();
  });

  test('[TH-11.31] everything is downloaded from the settings, in one file', {
    timeout: 60_000,
  }, async () => {
    await page.goto('/settings');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download everything' }).click();
    expect((await download).suggestedFilename()).toMatch(/^toolhub-.*\.json$/);
  });

  /** Of a phone, and of a tablet upright and lying; then the window is as it was. */
  async function windowsTooNarrow(shown: Page): Promise<number[]> {
    const before = shown.viewportSize();
    const found: number[] = [];
    for (const width of [390, 820, 1_024]) {
      await shown.setViewportSize({ width, height: 800 });
      const excess = () => shown.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      await expect
        .poll(excess, { timeout: 2_000 })
        .toBeLessThanOrEqual(0)
        .catch(() => found.push(width));
    }
    if (before !== null) await shown.setViewportSize(before);
    return found;
  }

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
      await walkTo(shown, path === '/tools' ? SOME_TOOLS : path);
      expect(await shown.getByRole('heading', { level: 1 }).count(), path).toBe(1);
      // What stands around every page is looked at once.
      const within = path === '/' || Object.values(publicPages).includes(path) ? 'body' : 'main';
      found.push(...(await seriousViolations(shown, undefined, within)).map((fault) => `${path}: ${fault}`));
    };
    const onThePhone = async () => {
      for (const path of Object.values(publicPages)) await inspect(other, path);
      await other.page.context().addCookies([{ name, value, url: hub.url }]);
      await other.page.goto('/tools');
      for (const path of Object.values(customerPages)) {
        if (emptyPages.has(path)) await inspect(other, path);
        else await walkTo(other.page, path);
        const isWider = await other.page.evaluate('document.body.scrollWidth > window.innerWidth + 1');
        if (isWider) found.push(`${path}: wider than a phone`);
      }
    };
    const onTheDesktop = async () => {
      await page.goto('/tools');
      for (const path of Object.values(customerPages)) {
        await inspect(watched, path);
        found.push(...(await windowsTooNarrow(page)).map((width) => `${path}: wider than ${width} px`));
      }
    };
    await Promise.all([onThePhone(), onTheDesktop()]);
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
    await page.getByText('Tool called').first().waitFor();
    expect(new URL(page.url()).search).toBe('?outcome=success');
  });

  testMishaps(() => ({ hub, chromium }));
});

const HEADING = `document.querySelector('h1')?.textContent ?? null`;

/** As a link does it, without loading the program anew; every page has a heading of its own. */
async function walkTo(page: Page, path: string): Promise<void> {
  const heading = page.getByRole('heading', { level: 1 });
  if (page.url() === 'about:blank') {
    await page.goto(path);
    return heading.waitFor();
  }
  await heading.waitFor();
  const before = await heading.textContent();
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
  const isThere = async () => ![null, before].includes(await page.evaluate<string | null>(HEADING));
  await expect.poll(isThere, { interval: 50 }).toBe(true);
}

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

const run = promisify(execFile);
const PDFTOPPM = '/usr/bin/pdftoppm';
const DOTS_PER_INCH = 40;
const DARK = 128;

/** As it is printed: there is ink in the corners where the parties, the total and the way to pay stand. */
async function lookAt(pdf: Buffer): Promise<void> {
  if (!existsSync(PDFTOPPM)) return;
  const child = run(PDFTOPPM, ['-gray', '-r', String(DOTS_PER_INCH), '-singlefile', '-'], {
    encoding: 'buffer',
    maxBuffer: 1_000_000,
  });
  child.child.stdin?.end(pdf);
  const { stdout } = await child;
  const [head = '', width = 0, height = 0] = /^P5\s(\d+) (\d+)\s255\s/.exec(stdout.toString('latin1')) ?? [];
  const pixels = stdout.subarray(head.length);
  const ink = (left: number, top: number, right: number, bottom: number) => {
    let dark = 0;
    for (let y = Math.floor(top * Number(height)); y < bottom * Number(height); y += 1)
      for (let x = Math.floor(left * Number(width)); x < right * Number(width); x += 1)
        if ((pixels[y * Number(width) + x] ?? 255) < DARK) dark += 1;
    return dark;
  };
  expect(ink(0, 0, 0.5, 0.15), 'the seller').toBeGreaterThan(20);
  expect(ink(0, 0.15, 0.5, 0.35), 'the customer').toBeGreaterThan(20);
  expect(ink(0.5, 0.3, 1, 0.6), 'the total').toBeGreaterThan(20);
  expect(ink(0, 0.4, 0.6, 0.75), 'how to pay').toBeGreaterThan(20);
  expect(ink(0, 0, 0.05, 1) + ink(0.95, 0, 1, 1), 'the margins').toBe(0);
}

async function cookieOf(page: Page): Promise<string> {
  const cookies = await page.context().cookies();
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}
