// However much there is, all of it can be reached, by everybody, and what is refused is said where it was asked for.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Account, call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { oneAtATime, openPage } from '../chromium.ts';
import type { Serving } from './rig.ts';
import { addDeadLetters, addInvoice, callMastodon, connectMastodon, waitForApproval } from './seed.ts';
import { heading, panel, STEP_MS, said } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;
/** More than a page of a list holds. */
const MANY = 25;

export function testReach(running: () => Serving): void {
  async function openAs(account: Account | undefined): Promise<Page> {
    const { hub, chromium } = running();
    const { page } = await openPage(chromium, hub.url);
    const [name = '', value = ''] = (account?.cookie ?? '').split('=');
    if (account !== undefined) await page.context().addCookies([{ name, value, url: hub.url }]);
    page.setDefaultTimeout(STEP_MS);
    return page;
  }

  async function openAsOperator(path: string): Promise<Page> {
    const page = await openAs(undefined);
    await page.goto(path);
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Enter' }).click();
    return page;
  }

  const next = (page: Page, title: string) =>
    panel(page, title).getByRole('button', { name: 'Next page' }).click();

  test('[TH-11.36] the operator finds the invoice of an account that is closed, and voids it', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const gone = await signUp(hub.url);
    for (let month = 1; month <= MANY; month += 1) await addInvoice(hub, gone, { monthsAgo: month });
    const one = await addInvoice(hub, gone, { monthsAgo: MANY + 1, status: 'failed_to_send' });
    const { database } = hub.database;
    await database.query('delete from customer_emails where customer_id = $1', [gone.id]);
    await database.query('delete from customers where id = $1', [gone.id]);
    const page = await openAsOperator('/admin?tab=invoices');
    const rows = panel(page, 'Invoices').getByRole('row').filter({ hasText: gone.email });
    await expect.poll(() => rows.count()).toBeGreaterThan(1);
    await next(page, 'Invoices');
    await page.waitForURL(/cursor=/);
    const previous = panel(page, 'Invoices').getByRole('button', { name: 'Previous page' });
    const link = page.url();
    await previous.click();
    await page.waitForURL((url) => !url.searchParams.has('cursor'));
    // Whoever comes by a link has no page before this one.
    const sent = await openAsOperator(link);
    await panel(sent, 'Invoices').getByRole('button', { name: 'First page' }).waitFor();
    expect(await panel(sent, 'Invoices').getByRole('button', { name: 'Previous page' }).count()).toBe(0);
    await sent.context().close();
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Not sent yet' }).click();
    await page.waitForURL(/status=failed_to_send/);
    const row = panel(page, 'Invoices').getByRole('row').filter({ hasText: one.number });
    await row.getByRole('button', { name: 'Void' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Void' }).click();
    await row.waitFor({ state: 'detached' });
    await page.goto('about:blank');
    const kept = await database.query<{ status: string }>('select status from invoices where id = $1', [
      one.id,
    ]);
    expect(kept.rows).toEqual([{ status: 'void' }]);
    await page.context().close();
  });

  test('[TH-11.36] what a run of the invoices came to is told to a screen reader', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const page = await openAsOperator('/admin?tab=invoices');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('status').getByText('Would create').waitFor();
    await page.context().close();
  });

  test('sessions beyond the first page are shown, and all others end at one stroke', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    await hub.database.database.query(
      `insert into sessions (customer_id, id, token_hash, created_at, expires_at, ip)
       select $1, 'ses_' || lpad(n::text, 26, '0'), decode(lpad(n::text, 64, '0'), 'hex'),
         now(), now() + interval '1 day', '203.0.113.' || n
       from generate_series(1, $2::int) n`,
      [account.id, MANY],
    );
    const page = await openAs(account);
    await page.goto('/settings');
    const sessions = panel(page, 'Sessions');
    await sessions.getByText('This one').waitFor();
    await next(page, 'Sessions');
    await sessions.getByText('203.0.113.1', { exact: true }).waitFor();
    await sessions.getByRole('button', { name: 'Previous page' }).click();
    await sessions.getByText('This one').waitFor();
    await sessions.getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
    // Below the heading this one alone.
    await expect.poll(() => sessions.getByRole('row').count()).toBe(2);
    expect((await call(`${hub.url}/api/me`, { cookie: account.cookie })).status).toBe(200);
    await page.context().close();
  });

  test('dead letters and failed jobs beyond the first page are shown, to the operator as well', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    const body = { webhook_url: `${hub.receiver.url}/many` };
    await call(`${hub.url}/api/webhooks/config`, { cookie, body });
    await call(`${hub.url}/api/webhooks/test`, { cookie, body: {} });
    // While it is under way there is no row yet that could be copied.
    const sent = () => call<{ data: { status: string }[] }>(`${hub.url}/api/webhooks/deliveries`, { cookie });
    await expect.poll(async () => (await sent()).body.data[0]?.status).toBe('delivered');
    await addDeadLetters(hub, account.id, MANY);
    const page = await openAs(account);
    await page.goto('/webhooks');
    const rowsOf = (shown: Page, table: string) => shown.getByRole('table', { name: table }).getByRole('row');
    await expect.poll(() => rowsOf(page, 'Dead letters').count()).toBe(21);
    await next(page, 'Dead letters');
    await expect.poll(() => rowsOf(page, 'Dead letters').count()).toBe(MANY - 20 + 1);
    await page.context().close();
    await hub.database.database.query(
      `insert into jobs (name, payload, ready_at, attempts, failed_at, last_error)
       select 'mail.send', '{}', now(), 25, now(), 'refused ' || n from generate_series(1, $1::int) n`,
      [MANY],
    );
    const operator = await openAsOperator('/admin?tab=jobs');
    await rowsOf(operator, 'Failed jobs')
      .filter({ hasText: `refused ${MANY}` })
      .waitFor();
    await next(operator, 'Failed jobs');
    await operator.getByText('refused 1', { exact: true }).waitFor();
    await operator.getByRole('tab', { name: 'Dead letters' }).click();
    await operator.getByRole('button', { name: account.email, exact: true }).click();
    const dialog = operator.getByRole('dialog');
    await expect.poll(() => dialog.getByRole('row').count()).toBe(21);
    await dialog.getByRole('button', { name: 'Next page' }).click();
    await expect.poll(() => dialog.getByRole('row').count()).toBe(MANY - 20 + 1);
    await operator.context().close();
    await hub.database.database.query(`delete from jobs where last_error like 'refused %'`);
  });

  test('calls that wait beyond the first page are shown, and decided there', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    await connectMastodon(hub, account);
    await waitForApproval(hub.url, account, (await makeToken(hub.url, account)).token);
    const page = await openAs(account);
    await oneAtATime(page, '/api/approvals');
    await page.goto('/');
    await page.getByText(/^More than 1 calls wait/).waitFor();
    await page.goto('/approvals');
    const [newer, older] = ['Shall this go out?', 'The engine weaves algebraic patterns.'];
    await page.getByText(newer).waitFor();
    expect(await page.getByText(older).count()).toBe(0);
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(older).waitFor();
    await page.locator('section:focus').getByText(older).waitFor();
    // The place is in the address, as of every page's own list.
    await page.reload();
    await page.getByText(older).waitFor();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Nothing is left on this page.').waitFor();
    await page.getByRole('button', { name: 'First page' }).click();
    await page.getByText(newer).waitFor();
    await page.context().close();
  });

  test('[TH-11.27] the calls of each day can be read as a table', { timeout: SLOW_MACHINE_MS }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    await connectMastodon(hub, account);
    await callMastodon(hub, account);
    const page = await openAs(account);
    await page.goto('/?days=7');
    await page.getByRole('button', { name: 'Show each day in numbers' }).click();
    const days = page.getByRole('table', { name: 'Daily activity' });
    // The heading and seven days, of which the newest comes first.
    await expect.poll(() => days.getByRole('row').count()).toBe(8);
    await days.getByRole('row').nth(1).getByRole('cell', { name: '1', exact: true }).waitFor();
    // It stays open for whoever compares ranges.
    await page.getByText('30 days', { exact: true }).click();
    await expect.poll(() => days.getByRole('row').count()).toBe(31);
    await page.getByText('7 days', { exact: true }).click();
    await expect.poll(() => days.getByRole('row').count()).toBe(8);
    await page.getByRole('button', { name: 'Hide the numbers', expanded: true }).click();
    await page.getByText('30 days', { exact: true }).click();
    await page.getByRole('button', { name: 'Show each day in numbers', expanded: false }).waitFor();
    await page.context().close();
  });

  test('a download that is refused is told on the page, which stays', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const one = await addInvoice(hub, account, { monthsAgo: 1 });
    const page = await openAs(account);
    const refusal = {
      ...{ status: 429, contentType: 'application/problem+json' },
      body: JSON.stringify({
        ...{ type: 'about:blank', title: 'Too many requests', status: 429, code: 'rate_limited' },
        ...{ detail: 'Try again in a minute.', request_id: 'req_1' },
      }),
    };
    let isRefused = true;
    for (const path of ['**/api/audit/export*', '**/api/invoices/*/pdf'])
      await page.route(path, (route) => (isRefused ? route.fulfill(refusal) : route.continue()));
    await page.goto('/audit');
    await page.getByRole('link', { name: 'Export CSV' }).click();
    await said(page, /Try again in a minute/);
    await heading(page, 'Audit log');
    await page.goto('/billing');
    await page.getByRole('link', { name: `PDF ${one.number}` }).click();
    await said(page, /Try again in a minute/);
    await heading(page, 'Billing');
    isRefused = false;
    for (const [path, link, file] of [
      ['/audit', 'Export CSV', 'audit.csv'],
      ['/billing', `PDF ${one.number}`, `${one.number}.pdf`],
    ] as const) {
      await page.goto(path);
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: link }).click();
      const saved = await download;
      expect(saved.suggestedFilename()).toBe(file);
      // A spreadsheet takes letters for others without the mark; other files stay as they are.
      const begins = (await readFile(await saved.path())).subarray(0, 5).toString();
      expect(begins).toBe(file.endsWith('.csv') ? '\ufeffid' : '%PDF-');
    }
    await page.context().close();
  });

  test('a refusal that is about no field of the form is shown above it', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const page = await openAs(await signUp(hub.url));
    const refuse = (pointers: readonly string[]) => ({
      ...{ status: 422, contentType: 'application/problem+json' },
      body: JSON.stringify({
        ...{ type: 'about:blank', title: 'Invalid request', status: 422, code: 'validation_failed' },
        ...{ detail: 'The server does not like it.', request_id: 'req_1' },
        errors: pointers.map((pointer) => ({ pointer, code: 'invalid', detail: `Not this one: ${pointer}` })),
      }),
    });
    let pointers = ['/access_token', '/nowhere'];
    await page.route('**/api/credentials/mastodon', (route) =>
      route.request().method() === 'PUT' ? route.fulfill(refuse(pointers)) : route.continue(),
    );
    await page.goto('/connections/mastodon');
    const send = page.getByRole('button', { name: 'Test and connect' });
    await send.click();
    await said(page, /The server does not like it\./);
    await page.getByText('Not this one: /access_token').waitFor();
    pointers = ['/access_token'];
    await send.click();
    await page.getByText('The server does not like it.').waitFor({ state: 'detached' });
    await page.getByText('Not this one: /access_token').waitFor();
    await page.route('**/api/tools/mastodon_search/call', (route) =>
      route.fulfill({
        json: {
          ...{ tool: 'mastodon_search', is_error: true },
          content: {
            error: {
              ...{ code: 'invalid_arguments', message: 'Nobody asked for this.' },
              errors: [{ pointer: '/idempotency_key', code: 'invalid', detail: 'Not this one.' }],
            },
          },
        },
      }),
    );
    await page.goto('/tools/mastodon_search');
    await page.getByRole('button', { name: 'Run' }).click();
    await said(page, /Nobody asked for this\./);
    await page.context().close();
  });
}
