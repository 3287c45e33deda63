// What single pages must do beside being looked at: dialogs, filters, days, zones, copying, what the operator sees, and
// that nobody is shown what is another organisation's.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signUp } from '../../contract/payments/person.ts';
import { seriousViolations } from '../axe.ts';
import { goTo, hasChromium, isDrawn, oneAtATime, timesWithoutZone } from '../chromium.ts';
import { testLayout } from './layout.ts';
import { dialogs, listPages, objectPages, operatorPages, statePages } from './pages.ts';
import { seedStates } from './seed.ts';
import { type SeededDashboard, startSeededDashboard, visit } from './seeded.ts';
import { refusedAt } from './steps.ts';

const SLOW_MACHINE_MS = 240_000;
const PHONE = { width: 360, height: 740 };

describe.runIf(hasChromium)('single pages of the dashboard', { timeout: SLOW_MACHINE_MS }, () => {
  let dashboard: SeededDashboard;

  beforeAll(async () => {
    dashboard = await startSeededDashboard();
  }, SLOW_MACHINE_MS);
  afterAll(() => dashboard?.stop());

  test('every dialog is opened and closed by the keyboard, and gives the focus back to what opened it', async () => {
    const { page, faults } = await dashboard.openAs(dashboard.owner);
    const focusIs = (selector: string) => page.locator(`${selector}:focus`).waitFor();
    await visit(page, '/dashboard');
    for (const [path, name] of Object.values(dialogs(dashboard.seeded))) {
      await goTo(page, path);
      const opener = page.getByRole('button', { name, exact: true }).first();
      await opener.evaluate((button) => button.setAttribute('data-opener', ''));
      await opener.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await focusIs('[role="dialog"] *');
      expect(await timesWithoutZone(page), path).toEqual([]);
      expect(
        await seriousViolations(page, ['button-name', 'label', 'link-name'], '[role="dialog"]'),
        name,
      ).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await focusIs('[data-opener]');
    }
    // What is refused is said in the dialog that asked for it.
    await goTo(page, `/dashboard/payment-methods/${dashboard.seeded.balance}`);
    await page.getByRole('button', { name: 'Delete' }).press('Enter');
    const asked = page.getByRole('dialog');
    await asked.getByRole('button', { name: 'Delete' }).press('Enter');
    await asked.getByRole('alert').getByText('Balance not empty').waitFor();
    await asked.getByRole('button', { name: 'Cancel' }).press('Enter');
    await asked.waitFor({ state: 'detached' });
    // So does one whose form was sent.
    await goTo(page, '/dashboard/payment-methods');
    const adding = page.getByRole('button', { name: 'Add payment method' }).first();
    await adding.evaluate((button) => button.setAttribute('data-opener', ''));
    await adding.press('Enter');
    await asked.getByText('Balance', { exact: true }).click();
    await asked.getByRole('button', { name: 'Add', exact: true }).press('Enter');
    await asked.waitFor({ state: 'detached' });
    await focusIs('[data-opener]');
    // A secret that is shown after another dialog leads back to where the first was opened.
    await goTo(page, '/dashboard/keys');
    const opener = page.getByRole('button', { name: 'Make a key' }).first();
    await opener.evaluate((button) => button.setAttribute('data-opener', ''));
    await opener.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').press('Enter');
    const kept = page.getByRole('button', { name: 'I have kept it' });
    await kept.waitFor();
    await focusIs('[role="dialog"] *');
    await kept.press('Enter');
    await focusIs('[data-opener]');
    // So do menus.
    const menu = page.getByRole('button', { name: 'Your account' });
    await menu.evaluate((button) => button.setAttribute('data-menu', ''));
    await menu.press('Enter');
    await page.getByRole('menuitem', { name: 'Log out' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await focusIs('[role="menuitem"]');
    await page.keyboard.press('Escape');
    await focusIs('[data-menu]');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('filters that the API refuses say so in words, and are cleared', async () => {
    const { page } = await dashboard.openAs(dashboard.owner);
    await visit(page, '/dashboard/payments?id_prefix=01m7');
    await page.getByText('These filters cannot be used').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).last().press('Enter');
    await page.getByRole('table', { name: 'Payments' }).getByRole('link').first().waitFor();
    await page.context().close();
  });

  test('an address that names no tab, time or month that there is shows what is shown first', async () => {
    const { page } = await dashboard.openAs(dashboard.owner);
    for (const [path, shown] of [
      ['/dashboard/ledger?tab=nothing', 'Accounts'],
      ['/dashboard/operator?tab=nothing', 'Organisations'],
    ] as const) {
      await visit(page, path);
      await page.getByRole('tab', { name: shown, selected: true }).waitFor();
      await page.getByRole('tabpanel').getByRole('table').waitFor();
    }
    await visit(page, '/dashboard?days=999');
    await page.getByText('Volume completed').waitFor();
    await visit(page, '/dashboard/ledger?tab=fees&month=2026-13');
    await page.getByText('Total:').waitFor();
    await page.context().close();
  });

  test('on a phone the quote is read before the button that sends the payment', async () => {
    const { page } = await dashboard.openAs(dashboard.owner, { viewport: PHONE });
    await visit(page, '/dashboard/payments/new?from=pm_alice&to=pm_bob');
    await page.getByLabel('Amount in USD').fill('25.00');
    await page.getByText('Why this rail').first().waitFor();
    const topOf = async (role: 'heading' | 'button', name: string) =>
      (await page.getByRole(role, { name }).boundingBox())?.y ?? 0;
    expect(await topOf('heading', 'Quote')).toBeLessThan(await topOf('button', 'Send payment'));
    await page.context().close();
  });

  testLayout({
    open: async () => {
      const { page } = await dashboard.openAs(dashboard.owner);
      await visit(page, '/dashboard');
      return page;
    },
    completed: () => dashboard.seeded.completed,
  });

  test('a page says once which zone its times are in, and nothing where it has none', async () => {
    const { page } = await dashboard.openAs(dashboard.owner, { timezoneId: 'America/New_York' });
    const zone = page.getByText('Times are in your time zone, America/New York.');
    await visit(page, listPages.payments ?? '');
    await zone.waitFor();
    await goTo(page, listPages['payment-methods'] ?? '');
    expect(await zone.isVisible()).toBe(false);
    await page.context().close();
  });

  test('a browser without a clipboard for pages copies in the old way, or it is said that nothing was copied', async () => {
    const { page } = await dashboard.openAs(dashboard.owner, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.addInitScript(`{
      const { clipboard } = navigator;
      globalThis.pasted = () => clipboard.readText();
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
    }`);
    await visit(page, listPages.keys ?? '');
    const id = (await page.getByText(/^key_/).first().textContent())?.trim();
    const copy = page.getByRole('button', { name: 'Copy Key id' }).first();
    await copy.press('Enter');
    await expect.poll(() => page.evaluate('pasted()')).toBe(id);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BUTTON');
    // Shown once, in a dialog.
    await page.getByRole('button', { name: 'Make a key' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Copied');
    await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).click();
    const secret = await page
      .getByRole('dialog')
      .getByText(/^sk_test_/)
      .textContent();
    const copySecret = page.getByRole('dialog').getByRole('button', { name: 'Copy Your new key' });
    await copySecret.press('Enter');
    await expect.poll(() => page.evaluate('pasted()')).toBe(secret);
    await page.evaluate('document.execCommand = () => false');
    await copySecret.press('Enter');
    await page.getByText('This browser does not let the page copy').waitFor();
    await page.context().close();
  });

  test('the operator copies the reference of a difference', async () => {
    const { page } = await dashboard.openAs(dashboard.owner, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await visit(page, operatorPages['operator-reconciliation'] ?? '');
    const difference = page.getByRole('row', { name: /20261113021000021B0042/ });
    await difference.getByRole('button', { name: 'Copy Reference' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('20261113021000021B0042');
    // Days are written as everywhere.
    expect(await difference.locator('time').allTextContents()).toEqual(
      Array(2).fill(expect.stringMatching(/^[A-Z][a-z]{2} \d+, \d{4}$/)),
    );
    // The rail and its mode are read as one, however narrow their column is.
    const rail = difference.getByText('RTP · Live', { exact: true });
    expect(await rail.evaluate((text) => text.getClientRects().length)).toBe(1);
    await page.context().close();
  });

  test('what was put aside is not counted as less than it is, where it is more than a page', async () => {
    const { page } = await dashboard.openAs(dashboard.owner);
    await oneAtATime(page, '/v1/admin/quarantine');
    await visit(page, '/dashboard');
    await page.getByRole('link', { name: /^More than 1 bank messages/ }).waitFor();
    await page.context().close();
  });

  test('the operator is told at the field why something that was put aside cannot be applied', async () => {
    const { page } = await dashboard.openAs(dashboard.owner);
    await visit(page, operatorPages['operator-quarantine'] ?? '');
    await page
      .getByRole('row', { name: /no entry of ours/i })
      .getByRole('button', { name: 'View' })
      .click();
    const apply = async (paymentId: string) => {
      await page.getByLabel('Payment id').fill(paymentId);
      await page.getByRole('button', { name: 'Apply to a payment' }).click();
    };
    await apply('pay_unknown');
    await refusedAt(page, 'Payment id', 'There is no such payment.');
    const { body } = await dashboard.owner.call('GET', '/v1/payments?rail=ach&limit=1');
    await apply(body.data[0].id);
    await refusedAt(page, 'Payment id', /The payment has no entry/);
    await page.context().close();
  });

  test("[P-9.14] another organisation's ids are not found, on every page that has one", async () => {
    const stranger = await signUp(dashboard.harness);
    const { page } = await dashboard.openAs(stranger);
    const refused = new Set<string>();
    page.on('response', (response) => {
      if (response.status() === 404) refused.add(new URL(response.url()).pathname.split('/')[3] ?? '');
    });
    await visit(page, '/dashboard');
    for (const path of Object.values(objectPages(dashboard.seeded))) {
      await goTo(page, path);
      await page.getByText('Not found').first().waitFor();
      expect(await page.getByText('Analytical Engines').count()).toBe(0);
      expect(refused).toContain(path.split(/[/=]/).at(-1));
    }
    await page.context().close();
  });

  test('a day is typed by the keyboard, and the list follows when its year is whole', async () => {
    const { page, faults } = await dashboard.openAs(dashboard.owner);
    await visit(page, listPages.payments ?? '');
    const until = page.getByLabel('Until', { exact: true });
    await until.focus();
    await page.keyboard.type('12312026');
    await page.waitForURL(/created_before=2027-01-01|created_before=2026-12-31/);
    await isDrawn(page);
    expect(await until.inputValue()).toBe('2026-12-31');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  // Last, since the clock stands still from then on.
  test('a payment that was canceled or came back says so in words, and the ledger says who owes it', async () => {
    const states = statePages(await seedStates(dashboard.owner));
    const { page, faults } = await dashboard.openAs(dashboard.owner);
    await visit(page, states['payment-canceled'] ?? '');
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await attempts.getByRole('row', { name: /ACH Never sent/ }).waitFor();
    await goTo(page, states['payment-returned'] ?? '');
    await page.getByRole('alert', { name: 'Why it came back' }).getByText('R10').waitFor();
    const ofTheSource = /Owed by Test Account\s····\s\d{4} pm_alice/;
    const entries = page.getByRole('table', { name: 'Ledger entries' });
    await entries.getByRole('row', { name: ofTheSource }).first().waitFor();
    await goTo(page, listPages.ledger ?? '');
    await page.getByRole('row', { name: ofTheSource }).getByText('$1,250.00').first().waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('the fees that are shown first are of the month that the sandbox clock shows', async () => {
    const { body: clock } = await dashboard.owner.call('POST', '/v1/sandbox/clock', { advance: 'P40D' });
    const { page, faults } = await dashboard.openAs(dashboard.owner);
    await visit(page, listPages['ledger-fees'] ?? '');
    expect(await page.getByLabel('Month').inputValue()).toBe(clock.now.slice(0, 7));
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
