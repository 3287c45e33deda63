// What stands where: rows that are read at a glance, and a header that keeps to its window.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { goTo, isDrawn, isWhole, sidewaysPixels } from '../chromium.ts';

interface Opened {
  /** A tab of somebody who is logged in, at the home page. */
  open: () => Promise<Page>;
  completed: () => string;
}

const DESKTOP_WIDTHS = [1_280, 1_440];
/** Phones of today: between them lie those whose header has little room. */
const PHONE_WIDTHS = [360, 390, 414];

/** Two lines of a table are higher than this. */
const LINE_PX_MAX = 32;
const HIGHEST_REASON = `Math.max(...[...document.querySelectorAll('td[data-label="Why"]')].map((cell) => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return text.getBoundingClientRect().height;
}))`;

export function testLayout({ open, completed }: Opened): void {
  test('on a desktop why a rail was taken is read in one line for each', async () => {
    const page = await open();
    await goTo(page, `/dashboard/payments/${completed()}`);
    await page.getByRole('table', { name: 'Why this rail' }).waitFor();
    for (const width of DESKTOP_WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(HIGHEST_REASON), `${width} px`).toBeLessThan(LINE_PX_MAX);
    }
    await page.context().close();
  });

  test('on a desktop of 1280 px the id of a key is one line', async () => {
    const page = await open();
    await page.setViewportSize({ width: 1_280, height: 900 });
    await goTo(page, '/dashboard/keys');
    const id = page.getByText(/^key_/).first();
    expect((await id.boundingBox())?.height).toBeLessThan(LINE_PX_MAX);
    await page.context().close();
  });

  test('on a desktop the operator sees what can be done with a file, and a reference in one line', async () => {
    const page = await open();
    for (const width of DESKTOP_WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await goTo(page, '/dashboard/operator?tab=files');
      await page.getByRole('button', { name: 'Mark refused' }).first().waitFor();
      await isDrawn(page);
      expect(await page.locator('[data-sideways]').count(), `${width} px`).toBe(0);
      await goTo(page, '/dashboard/operator?tab=reconciliation');
      const reference = page.locator('td > .ui-id').filter({ hasText: '20261113021000021B0042' });
      expect((await reference.boundingBox())?.height, `${width} px`).toBeLessThan(LINE_PX_MAX);
    }
    await page.context().close();
  });

  test('on a phone an id stands in one line, with its button beside it', async () => {
    const page = await open();
    await page.setViewportSize({ width: 360, height: 800 });
    for (const path of ['/dashboard/ledger?tab=entries', '/dashboard/team']) {
      await goTo(page, path);
      const ids = page.locator('td:not(:first-child) > .ui-id');
      await ids.first().waitFor();
      const heights = await ids.evaluateAll((found) => found.map((id) => id.getBoundingClientRect().height));
      expect(Math.max(...heights), path).toBeLessThan(LINE_PX_MAX);
    }
    await page.context().close();
  });

  test('letters that are half again as large leave a phone all of the page and of the header', async () => {
    const page = await open();
    // As many letters in a line as 360 px have of such ones.
    await page.setViewportSize({ width: 240, height: 500 });
    for (const path of [`/dashboard/payments/${completed()}`, '/dashboard/sandbox', '/dashboard/settings']) {
      await goTo(page, path);
      await isWhole(page);
      await isDrawn(page);
      expect(await sidewaysPixels(page), path).toBe(0);
      const account = await page.getByRole('button', { name: 'Your account' }).boundingBox();
      expect((account?.x ?? 0) + (account?.width ?? 0), path).toBeLessThanOrEqual(240);
    }
    await page.context().close();
  });

  test('letters that are twice as large leave a phone what is read and what is pressed', async () => {
    const page = await open();
    // As many letters in a line as 360 px have of such ones.
    await page.setViewportSize({ width: 180, height: 370 });
    for (const path of ['/dashboard', '/dashboard/ledger?tab=fees', '/dashboard/payments']) {
      await goTo(page, path);
      await isWhole(page);
      await isDrawn(page);
      expect(await sidewaysPixels(page), path).toBe(0);
      const account = await page.getByRole('button', { name: 'Your account' }).boundingBox();
      expect((account?.x ?? 0) + (account?.width ?? 0), path).toBeLessThanOrEqual(180);
    }
    const row = page.getByRole('table', { name: 'Payments' }).getByRole('row').nth(1);
    const amount = await row.getByRole('link').locator('strong').boundingBox();
    const status = await row.locator('.mantine-Badge-root').boundingBox();
    expect((amount?.y ?? 0) + (amount?.height ?? 0)).toBeLessThanOrEqual(status?.y ?? 0);
    await goTo(page, '/dashboard/keys');
    await page.getByRole('button', { name: 'Make a key' }).first().click();
    const words = page.getByRole('dialog').locator('.mantine-Button-label');
    await words.first().waitFor();
    for (const one of await words.all())
      expect(await one.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.context().close();
  });

  test('what is told by a ground alone is seen where the system sets the colours', async () => {
    const page = await open();
    await page.emulateMedia({ forcedColors: 'active' });
    await isWhole(page);
    await isDrawn(page);
    const grounds = await page.evaluate<string[]>(
      `['.ui-panel', '.ui-chart-plot > *', '.mantine-Progress-section'].map((selector) =>
        getComputedStyle(document.querySelector(selector)).backgroundColor)`,
    );
    expect(grounds.slice(1)).not.toContain(grounds[0]);
    const outline = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('.mantine-SegmentedControl-label[data-active]')).outlineStyle`,
    );
    expect(outline).toBe('solid');
    await page.context().close();
  });

  test('what is printed is the page alone, in letters that white paper shows, whatever somebody looks at', async () => {
    const page = await open();
    await page.emulateMedia({ colorScheme: 'dark' });
    await goTo(page, `/dashboard/payments/${completed()}`);
    const ink = `getComputedStyle(document.querySelector('h1')).color`;
    const dark = await page.evaluate<string>(ink);
    await page.evaluate(`addEventListener('beforeprint', () => { window.printed = ${ink}; })`);
    await page.pdf();
    expect(await page.evaluate('window.printed')).toBe('rgb(0, 0, 0)');
    expect(await page.evaluate<string>(ink)).toBe(dark);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true);
    expect(await page.getByRole('banner').isVisible()).toBe(false);
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: 'Refund' }).isVisible()).toBe(false);
    // The guides have the same two looks.
    await page.goto('/docs');
    const printed = await page.evaluate<string>(ink);
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    expect(printed).toBe(await page.evaluate<string>(ink));
    await page.context().close();
  });

  test('the first steps are not called undone while nobody knows what is done', async () => {
    const page = await open();
    const fulfil = { status: 500, contentType: 'application/problem+json' };
    const problem = {
      type: 'about:blank',
      title: 'Broken',
      status: 500,
      code: 'internal_error',
      detail: 'Broken.',
    };
    await page.route(
      ({ pathname }) => /^\/v1\/(keys|payments|webhook_endpoints)$/.test(pathname),
      (route) => route.fulfill({ ...fulfil, body: JSON.stringify({ ...problem, request_id: 'req_1' }) }),
    );
    await page.goto('/dashboard');
    await page.getByRole('alert').first().waitFor();
    await isWhole(page);
    expect(await page.getByText('Your first payment').count()).toBe(0);
    await page.context().close();
  });

  test('on a phone the account stands as far from the edge as the page below it', async () => {
    const page = await open();
    for (const width of PHONE_WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const account = await page.getByRole('button', { name: 'Your account' }).boundingBox();
      const below = await page.locator('.ui-page').boundingBox();
      const endOf = (box: typeof account) => Math.round((box?.x ?? 0) + (box?.width ?? 0));
      expect(endOf(account), `${width} px`).toBeLessThanOrEqual(endOf(below));
    }
    await page.context().close();
  });
}
