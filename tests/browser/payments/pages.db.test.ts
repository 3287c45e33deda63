// Every page of the dashboard in a real browser: it can be used by everybody, says nothing wrong in the console, and
// loads nothing from elsewhere.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser } from '../../contract/payments/person.ts';
import { seriousViolations } from '../axe.ts';
import {
  goTo,
  hasChromium,
  isDrawn,
  outOfPanels,
  sidewaysPixels,
  timesWithoutZone,
  type WatchedPage,
} from '../chromium.ts';
import { listPages, objectPages, operatorPages, publicPages } from './pages.ts';
import { type SeededDashboard, startSeededDashboard, visit } from './seeded.ts';

const SLOW_MACHINE_MS = 240_000;
const FIRST_LOAD_SCRIPT_BYTES_MAX = 300_000;
const DESKTOP = { width: 1_280, height: 800 };
const PHONE = { width: 360, height: 740 };
/** Upright and lying: between a phone's cards and a desktop's tables. */
const TABLET_WIDTHS = [820, 1_024];
/** Between them they have every part that has colours of its own. */
const IN_THE_DARK = new Set(['login', 'home', 'payments', 'payment-failed', 'keys', 'settings']);

describe.runIf(hasChromium)('the dashboard', { timeout: SLOW_MACHINE_MS }, () => {
  let dashboard: SeededDashboard;

  beforeAll(async () => {
    dashboard = await startSeededDashboard();
  }, SLOW_MACHINE_MS);
  afterAll(() => dashboard?.stop());

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
      const watched = await dashboard.openAs(person);
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
    const own = Object.entries({ ...listPages, ...objectPages(dashboard.seeded), ...operatorPages });
    await Promise.all([
      look(undefined, open).then(() => look(dashboard.owner, own)),
      look(dashboard.owner, own),
    ]);
    expect(found).toEqual({});
    expect(own).toEqual([]);
  });

  test('the first page loads little script, and is there within a second or so', async () => {
    const { page, faults } = await dashboard.openAs(dashboard.owner);
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
    const { body } = await dashboard.harness.call('GET', '/dashboard', { key: null });
    const entry = /src="([^"]+\.js)"/.exec(body)?.[1] ?? '';
    expect((await dashboard.harness.call('GET', entry, { key: null })).text).not.toMatch(
      /jsxDEV|jsx-dev-runtime/,
    );
    // An address that does not exist says so.
    await goTo(page, '/dashboard/nothing/here');
    expect(await page.locator('h1').textContent()).toBe('Not found');
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
