// The reference of each API in a browser: it is drawn by a package, and what that leaves open is mended by ours.
import type { TestDatabase } from '@libs/db/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToolhubDatabase, type Instance, startInstance } from '../../services/toolhub/test/instance.ts';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { seriousViolations } from './axe.ts';
import { hasChromium, openPage, sidewaysPixels, startChromium } from './chromium.ts';

const SLOW_MACHINE_MS = 240_000;
const DESKTOP = { width: 1_280, height: 800 };
const PHONE = { width: 360, height: 740 };
const STRIDE = 900;
const STRIDES_MAX = 100;

/** What is drawn only when somebody comes to it has room, too. */
async function goThrough(page: Page): Promise<void> {
  await page.keyboard.press('Home');
  for (let stride = 0; stride < STRIDES_MAX; stride += 1) {
    expect(await sidewaysPixels(page), `after ${stride} strides`).toBe(0);
    await page.mouse.wheel(0, STRIDE);
    const { top, end } = await page.evaluate<{ top: number; end: number }>(
      '({ top: scrollY, end: document.documentElement.scrollHeight - innerHeight })',
    );
    if (top >= end - 1) return;
  }
  expect.fail(`the page is longer than ${STRIDES_MAX * STRIDE} pixels`);
}

describe.runIf(hasChromium)('the reference', { timeout: SLOW_MACHINE_MS }, () => {
  let payments: Harness;
  let database: TestDatabase;
  let toolhub: Instance;
  let chromium: Browser;
  beforeAll(async () => {
    [payments, database, chromium] = await Promise.all([
      startHarness(),
      createToolhubDatabase(),
      startChromium(),
    ]);
    toolhub = await startInstance(database.url);
  }, SLOW_MACHINE_MS);
  afterAll(async () => {
    await chromium?.close();
    await Promise.all([payments?.stop(), toolhub?.stop()]);
    await database?.drop();
  });

  test.each(['Payments', 'Toolhub'] as const)('[P-9.7] of %s can be used by everybody', async (product) => {
    const { url } = product === 'Payments' ? payments : toolhub;
    const { page, faults } = await openPage(chromium, url, { viewport: DESKTOP });
    await page.goto('/docs/reference');
    await page.locator('.scalar-code-copy').first().waitFor({ state: 'attached' });
    // As far as the last of it, which is drawn when somebody comes to it.
    const lastList = async () => {
      await page.keyboard.press('End');
      return page.getByRole('list', { name: 'Admin endpoints' }).count();
    };
    await expect.poll(lastList).toBe(1);
    const looks = [
      ['light', DESKTOP],
      ['dark', PHONE],
    ] as const;
    for (const [colorScheme, viewport] of looks) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      // What the package has just drawn is named a moment later.
      await expect.poll(() => seriousViolations(page), { message: colorScheme }).toEqual([]);
      await expect.poll(() => sidewaysPixels(page), { message: colorScheme }).toBe(0);
      expect(await page.getByRole('banner').count(), colorScheme).toBeLessThanOrEqual(1);
    }
    await goThrough(page);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
