// Every page of the dashboard in a real browser: it can be used by everybody, says nothing wrong in the console, loads
// nothing from elsewhere, and shows nobody what is another organisation's.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, type Harness } from '../../contract/payments/harness.ts';
import { type Browser, signUp, verifyAddress } from '../../contract/payments/person.ts';
import { type Receiver, startReceiver } from '../../contract/payments/receiver.ts';
import { seriousViolations } from '../axe.ts';
import {
  goTo,
  hasChromium,
  isDrawn,
  isWhole,
  oneAtATime,
  openPage,
  outOfPanels,
  sidewaysPixels,
  startChromium,
  timesWithoutZone,
  type WatchedPage,
} from '../chromium.ts';
import { testLayout } from './layout.ts';
import { dialogs, listPages, objectPages, operatorPages, publicPages, statePages } from './pages.ts';
import { startDashboard } from './rig.ts';
import { type Seeded, seed, seedOperator, seedStates } from './seed.ts';
import { refusedAt } from './steps.ts';

const SLOW_MACHINE_MS = 240_000;
const FIRST_LOAD_SCRIPT_BYTES_MAX = 300_000;
const DESKTOP = { width: 1_280, height: 800 };
const PHONE = { width: 360, height: 740 };
/** Upright and lying: between a phone's cards and a desktop's tables. */
const TABLET_WIDTHS = [820, 1_024];
/** Between them they have every part that has colours of its own. */
const IN_THE_DARK = new Set(['login', 'home', 'payments', 'payment-failed', 'keys', 'settings']);

describe.runIf(hasChromium)('the dashboard', { timeout: SLOW_MACHINE_MS }, () => {
  let harness: Harness;
  let chromium: Chromium;
  let receiver: Receiver;
  let owner: Browser;
  let seeded: Seeded;

  beforeAll(async () => {
    [harness, receiver, chromium] = await Promise.all([startDashboard(), startReceiver(), startChromium()]);
    const person = await signUp(harness, { name: 'Ada Lovelace', organisation: 'Analytical Engines' });
    await verifyAddress(harness, person);
    await harness.call('POST', `/v1/admin/users/${person.email}/operator`, {
      key: ADMIN_TOKEN,
      body: { operator: true },
    });
    owner = person;
    [seeded] = await Promise.all([seed(person, receiver.url), seedOperator(harness)]);
  }, SLOW_MACHINE_MS);
  afterAll(async () => {
    await chromium?.close();
    await receiver?.stop();
    await harness?.stop();
  });

  async function openAs(person: Browser | undefined, options = {}): Promise<WatchedPage> {
    const opened = await openPage(chromium, harness.url, options);
    if (person?.cookie !== undefined) {
      const [name = '', value = ''] = person.cookie.split('=');
      await opened.page.context().addCookies([{ name, value, url: harness.url }]);
    }
    return opened;
  }

  async function visit(page: Page, path: string): Promise<void> {
    await page.goto(path);
    await isWhole(page);
  }

  async function faultsOnTheDesktop(page: Page, within: string): Promise<string[]> {
    await page.setViewportSize(DESKTOP);
    await page.emulateMedia({ colorScheme: 'light' });
    await isDrawn(page);
    return [
      ...(await seriousViolations(page, undefined, within)),
      ...(await tooWide(page, 'desktop')),
      ...(await timesWithoutZone(page)),
    ];
  }

  async function tooWide(page: Page, device: string): Promise<string[]> {
    const pixels = await sidewaysPixels(page);
    const panels = await outOfPanels(page);
    return [
      ...(pixels > 0 ? [`${pixels} px wider than a ${device}`] : []),
      ...panels.map((text) => `on a ${device} out of its panel: ${text}`),
    ];
  }

  async function faultsOnThePhone(page: Page, isInTheDark: boolean): Promise<string[]> {
    await page.setViewportSize(PHONE);
    await page.emulateMedia({ colorScheme: 'dark' });
    await isDrawn(page);
    const dark = isInTheDark ? await seriousViolations(page, ['color-contrast']) : [];
    return [...dark.map((violation) => `in the dark: ${violation}`), ...(await tooWide(page, 'phone'))];
  }

  async function faultsOnTheTablet(page: Page): Promise<string[]> {
    const found: string[] = [];
    for (const width of TABLET_WIDTHS) {
      await page.setViewportSize({ width, height: DESKTOP.height });
      found.push(...(await tooWide(page, `tablet of ${width} px`)));
    }
    return found;
  }

  /** What is wrong with the page that is open, which begins as the last one ended: to turn a page round is dear. */
  async function faultsOf(
    { page, faults }: WatchedPage,
    { isInTheDark, within }: { isInTheDark: boolean; within: string },
  ): Promise<string[]> {
    const headings = await page.locator('h1').count();
    const desktop = () => faultsOnTheDesktop(page, within);
    const phone = () => faultsOnThePhone(page, isInTheDark);
    const isOnThePhone = page.viewportSize()?.width === PHONE.width;
    const violations = await faultsOnTheTablet(page);
    for (const look of isOnThePhone ? [phone, desktop] : [desktop, phone]) violations.push(...(await look()));
    return [...faults.splice(0), ...violations, ...(headings === 1 ? [] : [`${headings} h1`])];
  }

  test('[P-9.13] every page can be used by everybody, in light and in the dark, on a desktop and on a phone', async () => {
    const found: Record<string, string[]> = {};
    /** One tab that goes from page to page until none is left. */
    const look = async (person: Browser | undefined, left: [name: string, path: string][]) => {
      const [first] = left;
      if (first === undefined) return;
      const watched = await openAs(person);
      const { page } = watched;
      await visit(page, first[1]);
      let within = 'body';
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [name, path] = next;
        await goTo(page, path);
        const wrong = await faultsOf(watched, { isInTheDark: IN_THE_DARK.has(name), within });
        if ((await page.locator('main').count()) === 1) within = 'main';
        if (wrong.length > 0) found[name] = wrong;
      }
      await page.context().close();
    };
    const open = Object.entries(publicPages);
    const own = Object.entries({ ...listPages, ...objectPages(seeded), ...operatorPages });
    await Promise.all([look(undefined, open).then(() => look(owner, own)), look(owner, own)]);
    expect(found).toEqual({});
    expect(own).toEqual([]);
  });

  test('the first page loads little script, and is there within a second or so', async () => {
    const { page, faults } = await openAs(owner);
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (request.resourceType() === 'script')
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await visit(page, '/dashboard');
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    console.log(`first load: ${Math.round(bytes / 1_000)} KB of script in ${sizes.length} files`);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(FIRST_LOAD_SCRIPT_BYTES_MAX);
    // What people get, not what the libraries have for development.
    const { body } = await harness.call('GET', '/dashboard', { key: null });
    const entry = /src="([^"]+\.js)"/.exec(body)?.[1] ?? '';
    expect((await harness.call('GET', entry, { key: null })).text).not.toMatch(/jsxDEV|jsx-dev-runtime/);
    // An address that does not exist says so.
    await goTo(page, '/dashboard/nothing/here');
    expect(await page.locator('h1').textContent()).toBe('Not found');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('every dialog is opened and closed by the keyboard, and gives the focus back to what opened it', async () => {
    const { page, faults } = await openAs(owner);
    const focusIs = (selector: string) => page.locator(`${selector}:focus`).waitFor();
    await visit(page, '/dashboard');
    for (const [path, name] of Object.values(dialogs(seeded))) {
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
    await goTo(page, `/dashboard/payment-methods/${seeded.balance}`);
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
    const { page } = await openAs(owner);
    await visit(page, '/dashboard/payments?id_prefix=01m7');
    await page.getByText('These filters cannot be used').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).last().press('Enter');
    await page.getByRole('table', { name: 'Payments' }).getByRole('link').first().waitFor();
    await page.context().close();
  });

  test('an address that names no tab, time or month that there is shows what is shown first', async () => {
    const { page } = await openAs(owner);
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
    const { page } = await openAs(owner, { viewport: PHONE });
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
      const { page } = await openAs(owner);
      await visit(page, '/dashboard');
      return page;
    },
    completed: () => seeded.completed,
  });

  test('a page says once which zone its times are in, and nothing where it has none', async () => {
    const { page } = await openAs(owner, { timezoneId: 'America/New_York' });
    const zone = page.getByText('Times are in your time zone, America/New York.');
    await visit(page, listPages.payments ?? '');
    await zone.waitFor();
    await goTo(page, listPages['payment-methods'] ?? '');
    expect(await zone.isVisible()).toBe(false);
    await page.context().close();
  });

  test('a browser without a clipboard for pages copies in the old way, or it is said that nothing was copied', async () => {
    const { page } = await openAs(owner, { permissions: ['clipboard-read', 'clipboard-write'] });
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
    const { page } = await openAs(owner, { permissions: ['clipboard-read', 'clipboard-write'] });
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
    const { page } = await openAs(owner);
    await oneAtATime(page, '/v1/admin/quarantine');
    await visit(page, '/dashboard');
    await page.getByRole('link', { name: /^More than 1 bank messages/ }).waitFor();
    await page.context().close();
  });

  test('the operator is told at the field why something that was put aside cannot be applied', async () => {
    const { page } = await openAs(owner);
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
    const { body } = await owner.call('GET', '/v1/payments?rail=ach&limit=1');
    await apply(body.data[0].id);
    await refusedAt(page, 'Payment id', /The payment has no entry/);
    await page.context().close();
  });

  test("[P-9.14] another organisation's ids are not found, on every page that has one", async () => {
    const stranger = await signUp(harness);
    const { page } = await openAs(stranger);
    const refused = new Set<string>();
    page.on('response', (response) => {
      if (response.status() === 404) refused.add(new URL(response.url()).pathname.split('/')[3] ?? '');
    });
    await visit(page, '/dashboard');
    for (const path of Object.values(objectPages(seeded))) {
      await goTo(page, path);
      await page.getByText('Not found').first().waitFor();
      expect(await page.getByText('Analytical Engines').count()).toBe(0);
      expect(refused).toContain(path.split(/[/=]/).at(-1));
    }
    await page.context().close();
  });

  test('a day is typed by the keyboard, and the list follows when its year is whole', async () => {
    const { page, faults } = await openAs(owner);
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
    const states = statePages(await seedStates(owner));
    const { page, faults } = await openAs(owner);
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
    const { body: clock } = await owner.call('POST', '/v1/sandbox/clock', { advance: 'P40D' });
    const { page, faults } = await openAs(owner);
    await visit(page, listPages['ledger-fees'] ?? '');
    expect(await page.getByLabel('Month').inputValue()).toBe(clock.now.slice(0, 7));
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
