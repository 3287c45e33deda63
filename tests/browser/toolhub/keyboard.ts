// What the keyboard needs: after something is gone the focus is at a place that makes sense, and what is wider than its
// window is moved by keys.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { call, signUp } from '../../../services/toolhub/test/accounts.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { isDrawn, openPage } from '../chromium.ts';
import type { Serving } from './rig.ts';
import { addAuditEntries, LOOKED_AT_MAX } from './seed.ts';
import { STEP_MS } from './steps.ts';

const LONG_NAME = 'n'.repeat(60);
const DESKTOP = { width: 1_600, height: 800 };
const SMALL_DESKTOP = { width: 1_000, height: 800 };
const PHONE = { width: 360, height: 740 };

/** The row or heading that has the focus, by its first words. */
const FOCUSED = `(document.activeElement.closest('tr')?.querySelector('td') ?? document.activeElement).textContent.slice(0, 80)`;
const ROOM = '.ui-table-room';
const WIDER_THAN_A_SMALL_DESKTOP = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('.ui-table { min-width: 1000px }');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}`;
const CHOSEN_IS_IN_VIEW = `(() => {
  const row = document.querySelector('[role=tablist]').getBoundingClientRect();
  const tabs = [...document.querySelectorAll('[role=tab]')].map((tab) => tab.getBoundingClientRect());
  const chosen = document.querySelector('[role=tab][aria-selected=true]').getBoundingClientRect();
  return {
    lines: new Set(tabs.map(({ top }) => top)).size,
    isInView: chosen.left >= row.left - 1 && chosen.right <= row.right + 1,
  };
})()`;

export function testKeyboard(running: () => Serving): void {
  test('after a confirmed deletion the focus is at the next row, then at the one before, then at the heading', {
    timeout: 60_000,
  }, async () => {
    const { hub, chromium } = running();
    const { cookie } = await signUp(hub.url);
    for (const name of ['First', 'Second', LONG_NAME])
      await call(`${hub.url}/api/tokens`, { cookie, body: { name } });
    const [name = '', value = ''] = cookie.split('=');
    const { page, faults } = await openPage(chromium, hub.url, { viewport: DESKTOP });
    page.setDefaultTimeout(STEP_MS);
    await page.context().addCookies([{ name, value, url: hub.url }]);
    await page.goto('/tokens');
    await page.getByText('Second').waitFor();
    await movesByKeys(page);
    const focused = () => expect.poll(() => page.evaluate<string>(FOCUSED));
    const names = await page.locator('tbody tr td:first-child').allTextContents();
    const [above = '', middle = '', below = ''] = names;
    await revoke(page, middle);
    await focused().toBe(below);
    await revoke(page, below);
    await focused().toBe(above);
    await revoke(page, above);
    await focused().toBe('Tokens');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('on a phone the keyboard passes by the list of pages while it is closed, and leaves it by Escape', {
    timeout: 60_000,
  }, async () => {
    const { hub, chromium } = running();
    const [name = '', value = ''] = (await signUp(hub.url)).cookie.split('=');
    const { page, faults } = await openPage(chromium, hub.url, { viewport: PHONE });
    page.setDefaultTimeout(STEP_MS);
    await page.context().addCookies([{ name, value, url: hub.url }]);
    await page.goto('/tokens');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const isInTheList = () => page.evaluate<boolean>(`document.activeElement.closest('nav') !== null`);
    await page.getByRole('button', { name: 'Your account' }).focus();
    await page.keyboard.press('Tab');
    expect(await isInTheList()).toBe(false);
    const menu = page.getByRole('button', { name: 'Open the menu' });
    await menu.press('Enter');
    await page.getByRole('link', { name: 'Connections' }).focus();
    await page.keyboard.press('Escape');
    await page.locator(':focus').and(menu).waitFor();
    // The page that one is at already.
    await menu.press('Enter');
    await page.getByRole('link', { name: 'Tokens' }).press('Enter');
    await menu.waitFor();
    expect(await page.getByRole('link', { name: 'Connections' }).isVisible()).toBe(false);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('after a form is sent by its button the focus is at the field that was refused, else at the button again', {
    timeout: 60_000,
  }, async () => {
    const { hub, chromium } = running();
    const [name = '', value = ''] = (await signUp(hub.url)).cookie.split('=');
    const { page, faults } = await openPage(chromium, hub.url, { viewport: DESKTOP });
    page.setDefaultTimeout(STEP_MS);
    await page.context().addCookies([{ name, value, url: hub.url }]);
    await page.goto('/connections/mastodon');
    await page.getByLabel('Your server').fill('https://mastodon.social/@ada');
    await page.getByRole('button', { name: 'Log in there' }).press('Enter');
    await page.getByText('The address of a server alone').waitFor();
    await page.locator('input[value="https://mastodon.social/@ada"][aria-invalid=true]:focus').waitFor();
    await page.getByLabel('Instance URL').fill('mastodon.social');
    await page.getByLabel('Access token').fill('with a space');
    const connect = page.getByRole('button', { name: 'Test and connect' });
    await connect.press('Enter');
    await page.getByText('Must be the address of a server, such as https://mastodon.social.').waitFor();
    await page.locator('input[name=instance_url][aria-invalid=true]:focus').waitFor();
    await page.getByLabel('Instance URL').fill('https://mastodon.social');
    await connect.press('Enter');
    await page.getByText('Must be in one piece, without spaces.').waitFor();
    await page.locator('input[name=access_token][aria-invalid=true]:focus').waitFor();
    await page.goto('/settings');
    const save = page.getByRole('button', { name: 'Save' });
    await save.press('Enter');
    await page.getByText('Saved').waitFor();
    await page.locator('button:focus', { hasText: 'Save' }).waitFor();
    const password = page.getByLabel('Password', { exact: true });
    await password.fill('not my password');
    await page.getByRole('button', { name: 'Delete my account' }).press('Enter');
    await page.getByText('The password is wrong.').waitFor();
    await page.locator('input[type=password][aria-invalid=true]:focus').waitFor();
    // Sent from its field, the keyboard stays there, and what was typed stands as it is stored.
    await page.goto('/billing');
    await page.getByLabel('Cap a month').fill('40');
    await page.getByLabel('Cap a month').press('Enter');
    await page.locator('input[value="$40.00"]:focus').waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('whoever looks further or turns the page goes on at the first row that came, or at what is said in its place', {
    timeout: 60_000,
  }, async () => {
    const { hub, chromium } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    await call(`${hub.url}/api/tokens`, { cookie, body: { name: 'First' } });
    const { body } = await call<{ data: object[] }>(`${hub.url}/api/audit`, { cookie });
    const [name = '', value = ''] = cookie.split('=');
    const { page, faults } = await openPage(chromium, hub.url, { viewport: DESKTOP });
    page.setDefaultTimeout(STEP_MS);
    await page.context().addCookies([{ name, value, url: hub.url }]);
    const focused = () => expect.poll(() => page.evaluate<string>(FOCUSED));
    // The last page has no next one, and the first none before it.
    await page.goto(`/audit?limit=${body.data.length - 1}`);
    await page.getByRole('button', { name: 'Next page' }).press('Enter');
    await focused().toBe('Account made');
    await page.getByRole('button', { name: 'First page' }).press('Enter');
    await focused().toBe('Token made');
    // Beside the fields there is nothing left to clear: the first of them has it.
    await page.getByRole('button', { name: 'Clear filters' }).press('Enter');
    await page
      .locator('input:focus')
      .and(page.getByRole('combobox', { name: 'Action' }))
      .waitFor();
    await addAuditEntries(hub, account, 2 * LOOKED_AT_MAX);
    await page.goto('/audit?action=account.created');
    const further = page.getByRole('button', { name: 'Look further' });
    await further.press('Enter');
    // Still nothing: the same button has it, and says so to whoever hears the page.
    await page.waitForURL(/cursor=/);
    const first = page.url();
    await page.locator('button:focus:enabled', { hasText: 'Look further' }).waitFor();
    const saidOf = await further.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${saidOf}"]`).textContent()).toContain('Nothing found so far');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).not.toBe(first);
    await focused().toBe('Account made');
    await page.goto('/audit?action=token.revoked');
    await further.press('Enter');
    await page.waitForURL(/cursor=/);
    await page.locator('button:focus:enabled', { hasText: 'Look further' }).waitFor();
    await page.keyboard.press('Enter');
    await focused().toContain('Nothing matches these filters');
    await page.getByRole('button', { name: 'Clear filters' }).last().press('Enter');
    await focused().toBe('Tool called');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("the operator's tabs are one line on a phone, with the chosen one in view", {
    timeout: 60_000,
  }, async () => {
    const { hub, chromium } = running();
    const { page, faults } = await openPage(chromium, hub.url, { viewport: PHONE });
    page.setDefaultTimeout(STEP_MS);
    await page.goto('/admin?tab=health');
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Enter' }).press('Enter');
    await page.getByRole('tab', { name: 'Platforms', selected: true }).waitFor();
    const seen = () => expect.poll(() => page.evaluate(CHOSEN_IS_IN_VIEW));
    await seen().toEqual({ lines: 1, isInView: true });
    await page.getByRole('tab', { name: 'Platforms' }).press('ArrowRight');
    await page.getByRole('tab', { name: 'Customers', selected: true }).waitFor();
    await seen().toEqual({ lines: 1, isInView: true });
    expect(faults).toEqual([]);
    await page.context().close();
  });
}

/** By the keyboard alone; a key that is held down asks, and does not answer as well. */
async function revoke(page: Page, name: string): Promise<void> {
  const button = page.getByRole('row').filter({ hasText: name }).getByRole('button', { name: 'Revoke' });
  await button.focus();
  await page.keyboard.down('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.locator('button:focus').waitFor();
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  expect(await dialog.getByRole('button', { name: 'Revoke' }).isEnabled()).toBe(true);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await button.waitFor({ state: 'detached' });
}

/** Where a table is wider than its window, and only there, it is a stop for the keyboard. */
async function movesByKeys(page: Page): Promise<void> {
  const room = page.locator(ROOM);
  expect(await room.getAttribute('tabindex')).toBeNull();
  await page.setViewportSize(SMALL_DESKTOP);
  await isDrawn(page);
  // Not by a long name, which goes on in the next line.
  expect(await room.getAttribute('tabindex')).toBeNull();
  await page.evaluate(WIDER_THAN_A_SMALL_DESKTOP);
  await page.getByRole('region', { name: 'Tokens, moves sideways' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => room.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0);
  await page.setViewportSize(DESKTOP);
  await expect.poll(() => room.getAttribute('tabindex')).toBeNull();
}
