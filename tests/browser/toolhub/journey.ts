// What a customer does with connected accounts, up to the invoice and beyond.
import { expect, test } from 'vitest';
import { readPdf } from '../../../services/toolhub/src/invoices/test/pdf-text.ts';
import { call } from '../../../services/toolhub/test/accounts.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { answer } from '../../contract/toolhub/receiver.ts';
import { timesWithoutZone } from '../chromium.ts';
import { lookAtInvoice } from './invoice-ink.ts';
import { ADA, type Running, VENDOR_TOKEN } from './rig.ts';
import { cookieOf, go, heading, panel } from './steps.ts';

/** What the page says for a moment, to whoever listens. */
const HEAR_STATUS = `{
  globalThis.heard = [];
  const status = document.querySelector('[role=status]');
  new MutationObserver(() => heard.push(status.textContent)).observe(status, { childList: true });
}`;

export function testJourney(running: () => Running): void {
  test('[TH-11.23] a tool is tried, counted, and seen in the overview', { timeout: 60_000 }, async () => {
    const { page } = running();
    await go(page, 'Tools');
    await panel(page, 'Mastodon').getByText('OK', { exact: true }).waitFor();
    expect(
      await panel(page, 'Mastodon')
        .getByRole('link', { name: /onnect: / })
        .count(),
    ).toBe(0);
    const connect = panel(page, 'Bluesky').getByRole('link', { name: 'Connect: Bluesky' });
    expect(await connect.getAttribute('href')).toBe('/connections/bluesky');
    await page.getByLabel('Search', { exact: true }).fill('mastodon_list_notif');
    await page.getByLabel('Search', { exact: true }).press('Enter');
    await page.getByRole('link', { name: 'List notifications' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Done.').waitFor();
    await go(page, 'Overview');
    await page.getByText('1 of 1,000 calls').waitFor();
    await page.getByText('mastodon_list_notifications').waitFor();
    await page.goto('/tools/email_list_folders');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Done.').waitFor();
    await go(page, 'Overview');
    await page.getByText('2 of 1,000 calls').waitFor();
    await page.reload();
    await page.getByText('2 of 1,000 calls').waitFor();
    // What is written for assistants and programs reads well to people, too.
    await page.goto('/tools/mastodon_get_timeline');
    expect(await page.getByText('Reads a timeline, newest first').textContent()).not.toContain('`');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('alert').getByText('Invalid arguments').waitFor();
    await page.getByText('What is wrong is said at its field above.').waitFor();
  });

  test('[TH-11.24] the secret of a webhook is shown once', { timeout: 60_000 }, async () => {
    const { hub, page } = running();
    await go(page, 'Webhooks');
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
    const { hub, page } = running();
    await hub.database.database.query(
      `update credentials set expires_at = now() - interval '1 hour' where platform = 'mastodon'`,
    );
    await page.goto('/tools/mastodon_list_notifications');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('token_expired').first().waitFor();
    await page.getByRole('alert').getByRole('link').click();
    await heading(page, 'Mastodon');
    await go(page, 'Overview');
    await page.getByRole('link', { name: /^Reconnect: Mastodon/ }).waitFor();
    await go(page, 'Connections');
    await page.getByRole('region', { name: 'Mastodon' }).getByText('Token expired').waitFor();
    await page.getByRole('link', { name: 'Reconnect: Mastodon' }).click();
    await page.getByLabel('Instance URL').fill('https://social.test');
    await page.getByLabel('Access token').fill(VENDOR_TOKEN);
    await page.getByRole('button', { name: 'Test and connect' }).click();
    await page.getByText('Connected.').waitFor();
    await go(page, 'Connections');
    await page.getByRole('region', { name: 'Mastodon' }).getByText('OK').waitFor();
  });

  test('[TH-11.26] an assistant is connected through consent to snippets', { timeout: 60_000 }, async () => {
    const { hub, page } = running();
    await go(page, 'Assistants');
    await page.getByRole('link', { name: 'Make snippets' }).click();
    await page.getByRole('button', { name: /allow/i }).click();
    await page.getByText('claude mcp add').first().waitFor();
    await page.evaluate(HEAR_STATUS);
    await page.getByRole('button', { name: 'Copy terminal command with browser login' }).click();
    await expect.poll(() => page.evaluate('heard')).toContain('Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `claude mcp add --transport http toolhub ${hub.url}/mcp`,
    );
    await page.reload();
    await page.getByRole('heading', { name: 'The snippets were shown once' }).waitFor();
    await page.getByRole('link', { name: 'Make new snippets' }).waitFor();
    await page.goto('/tokens');
    await page.getByText('AI client, connected').waitFor();
    await go(page, 'Audit log');
    await page.getByText('Assistant “Toolhub connector”').first().waitFor();
    // What happens elsewhere is seen without a reload.
    const cookie = await cookieOf(page);
    await call(`${hub.url}/api/platforms/x`, { method: 'PUT', cookie, body: { enabled: true } });
    await page.getByRole('cell', { name: 'Platform switched on' }).waitFor();
  });

  test('[TH-11.12] a call that waits is seen whole, allowed, and runs once', {
    timeout: 60_000,
  }, async () => {
    const { hub, page } = running();
    const cookie = await cookieOf(page);
    const made = await call<{ token: string }>(`${hub.url}/api/tokens`, {
      cookie,
      body: { name: 'Token of Ada' },
    });
    await go(page, 'Approvals');
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
    const { hub, page } = running();
    await go(page, 'Billing');
    await page.getByLabel('Company').fill('Analytical Engines Ltd');
    await page.getByRole('textbox', { name: 'Address' }).fill('12 St James Square\nLondon');
    await page.getByLabel('Tax id').fill('GB123456789');
    await panel(page, 'On your invoices').getByRole('button', { name: 'Save' }).click();
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
    await lookAtInvoice(pdf);
  });
}

/** What was begun on the way has had time to come to its end. */
export function testJourneysEnd(running: () => Running): void {
  test('[TH-11.33] a dead letter shows what was sent and what came back, and goes out again', {
    timeout: 60_000,
  }, async () => {
    const { hub, page } = running();
    await go(page, 'Webhooks');
    const letters = page.getByRole('table', { name: 'Dead letters' });
    await letters.getByText('webhook.test').waitFor({ timeout: 40_000 });
    // What happened meanwhile was not delivered either: below the heading there are at least two more, once all were given up.
    await expect.poll(() => letters.getByRole('row').count()).toBeGreaterThan(3);
    const letter = letters.getByRole('row').filter({ hasText: 'webhook.test' });
    await letter.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('dialog').getByText('no room').first().waitFor();
    await page.getByRole('dialog').getByText('This is a test of the webhook.').waitFor();
    expect(await timesWithoutZone(page)).toEqual([]);
    await page.keyboard.press('Escape');
    hub.receiver.on('/hooks', answer(204));
    const before = hub.receiver.at('/hooks').length;
    await letter.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('On its way again.').waitFor();
    await letter.waitFor({ state: 'detached' });
    await expect.poll(() => hub.receiver.at('/hooks').length).toBeGreaterThan(before);
    // The others at one stroke.
    await page.getByRole('button', { name: /^Send these \d+ again$/ }).click();
    await letters.waitFor({ state: 'detached' });
  });

  test('[TH-11.31] everything is downloaded from the settings, in one file', {
    timeout: 60_000,
  }, async () => {
    const { page } = running();
    await page.goto('/settings');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download everything' }).click();
    expect((await download).suggestedFilename()).toMatch(/^toolhub-.*\.json$/);
  });

  test('[TH-11.29] after the session has ended one comes back to where one was', {
    timeout: 60_000,
  }, async () => {
    const { hub, page } = running();
    await page.goto('/audit?outcome=success');
    await call(`${hub.url}/api/auth/logout`, { cookie: await cookieOf(page), body: {} });
    await page.reload();
    await heading(page, 'Log in');
    await page.getByLabel('E-mail').fill(ADA.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(ADA.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await heading(page, 'Audit log');
    await page.getByText('Tool called').first().waitFor();
    expect(new URL(page.url()).search).toBe('?outcome=success');
    // A day is chosen, not written; the log counts its days in UTC, and says so.
    await page.getByLabel('From day (UTC)').fill('2100-01-01');
    await page.getByText('Nothing matches these filters').waitFor();
    expect(new URL(page.url()).searchParams.get('from')).toBe('2100-01-01');
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await page.getByText('Tool called').first().waitFor();
  });
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
