// What stands on a page stays true: for whom it is, on which day, and while it is read.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { test } from 'vitest';
import { type Account, call, signUp } from '../../../services/toolhub/test/accounts.ts';
import { openPage } from '../chromium.ts';
import type { Running } from './rig.ts';
import { addInvoice } from './seed.ts';
import { heading, STEP_MS } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;

export function testStayingTrue(running: () => Running): void {
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
}
