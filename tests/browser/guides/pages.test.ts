// The pages of both products in a browser: nothing serious for axe, nothing cut off on a phone, nothing from outside, and
// all of it by the keyboard.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type DocsSite, registerGuides } from '@libs/docs';
import { type App, createApp } from '@libs/http';
import { type ErrorCatalogue, listen } from '@libs/runtime';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../services/payments/src/config.ts';
import { errors as paymentsErrors } from '../../../services/payments/src/errors.ts';
import { paymentsDocs } from '../../../services/payments/src/guides/site.ts';
import type { Config } from '../../../services/toolhub/src/config.ts';
import { createConnectors } from '../../../services/toolhub/src/connectors/index.ts';
import { errors as toolhubErrors } from '../../../services/toolhub/src/errors.ts';
import { toolhubDocs } from '../../../services/toolhub/src/guides/site.ts';
import { hasChromium, sidewaysPixels, startChromium } from '../chromium.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const publicUrl = 'http://localhost:4100';
const products: readonly { name: string; site: DocsSite; errors: ErrorCatalogue }[] = [
  { name: 'Payments', site: paymentsDocs(loadConfig({})), errors: paymentsErrors },
  {
    name: 'Toolhub',
    site: toolhubDocs({ server: { publicUrl } as Config['server'] }, createConnectors()),
    errors: toolhubErrors,
  },
];
let chromium: Browser;
beforeAll(async () => {
  if (hasChromium) chromium = await startChromium();
});
afterAll(() => chromium?.close());

interface AxeResult {
  violations: { id: string; impact: string; nodes: { html: string }[] }[];
}

/** Rows and entries that are made by one line of code are looked at three times each: axe takes seconds for hundreds. */
const SHORTEN = `for (const one of document.querySelectorAll('tbody tr:nth-child(n+4), h3:nth-of-type(n+6), h3:nth-of-type(n+6) ~ p')) one.remove()`;

/** The words of a program are thousands of elements that differ in their colour alone. */
const WITHOUT_COLOURS = `for (const one of document.querySelectorAll('pre code')) one.textContent = one.textContent`;

/** The serious and critical faults of a page; contrast, which takes most of the time, by itself. */
async function faultsOf(page: Page, rules: 'structure' | 'contrast'): Promise<string[]> {
  await page.evaluate(SHORTEN);
  if (rules === 'structure') await page.evaluate(WITHOUT_COLOURS);
  await page.evaluate(axeSource);
  const chosen =
    rules === 'contrast'
      ? { runOnly: ['color-contrast'] }
      : { rules: { 'color-contrast': { enabled: false } } };
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], preload: false, ...chosen })})`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

describe.skipIf(!hasChromium).each(products)('$name', ({ site, errors }) => {
  const names = site.groups.flatMap(({ pages }) => [...pages]);
  const paths = ['/docs', ...names.map((name) => `/docs/${name}`), '/docs/nowhere', '/docs/search?q=webhook'];
  let app: App;
  let url: string;
  let context: BrowserContext;
  let page: Page;
  const outside: string[] = [];
  beforeAll(async () => {
    app = await createApp({
      ...{ name: 'docs', version: '1', publicUrl: site.publicUrl, errors, logLevel: 'silent' },
      ...{ defaultMetrics: false, docs: (pages) => registerGuides(pages, site) },
    });
    ({ url } = await listen(app, { host: '127.0.0.1', port: 0 }));
    // axe is put into the page by the test, which the pages' own policy rightly forbids.
    context = await chromium.newContext({ bypassCSP: true, reducedMotion: 'reduce' });
    page = await context.newPage();
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) outside.push(request.url());
    });
  });
  afterAll(async () => {
    await context.close();
    await app.close();
  });

  test.each(paths)(
    '[P-9.7] %s can be used by everybody, and fits a phone and a desk',
    async (path) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(url + path);
      expect(await page.locator('h1').count()).toBe(1);
      expect(await sidewaysPixels(page)).toBe(0);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await sidewaysPixels(page)).toBe(0);
      // As many letters in a line as that phone has of such that are twice as large.
      await page.setViewportSize({ width: 180, height: 370 });
      expect(await sidewaysPixels(page)).toBe(0);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await faultsOf(page, 'structure')).toEqual([]);
      expect(outside).toEqual([]);
    },
    60_000,
  );

  test.each(['light', 'dark'] as const)(
    'everything can be read when it is %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      // All pages have one style, and these have every part of it.
      for (const path of ['/docs', '/docs/webhooks']) {
        await page.goto(url + path);
        expect(await faultsOf(page, 'contrast')).toEqual([]);
      }
    },
    60_000,
  );

  test('the search is used by the keyboard alone', async () => {
    await page.goto(`${url}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('rate_limited');
    await page.locator('.results a').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/errors#rate_limited$/);
    expect(await page.evaluate('document.querySelector(":target").textContent')).toContain('rate_limited');
  });

  test('can be read and searched without a script', async () => {
    const bare = await chromium.newContext({ javaScriptEnabled: false });
    const plain = await bare.newPage();
    await plain.goto(`${url}/docs/errors`);
    for (const code of await plain.locator('pre').all()) expect(await code.isVisible()).toBe(true);
    await plain.locator('header input[type=search]').fill('rate_limited');
    await plain.keyboard.press('Enter');
    await plain.waitForURL(/\/docs\/search\?q=rate_limited/);
    expect(await plain.locator('.cards a').first().getAttribute('href')).toBe('/docs/errors#rate_limited');
    await bare.close();
  });

  test('the page runs under its own policy, without a complaint', async () => {
    const strict = await chromium.newContext();
    const own = await strict.newPage();
    const complaints: string[] = [];
    own.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    own.on('pageerror', (error) => complaints.push(String(error)));
    await own.goto(`${url}/docs`);
    await own.locator('.copy').first().waitFor();
    expect(complaints).toEqual([]);
    await strict.close();
  });
});

describe.skipIf(!hasChromium)('tabs and copying', () => {
  test('a way is chosen by the arrows, for all samples and all pages, and copied as it is', async () => {
    const [{ site, errors }] = products as [(typeof products)[0]];
    const app = await createApp({
      ...{ name: 'docs', version: '1', publicUrl: site.publicUrl, errors, logLevel: 'silent' },
      ...{ defaultMetrics: false, docs: (pages) => registerGuides(pages, site) },
    });
    const { url } = await listen(app, { host: '127.0.0.1', port: 0 });
    const context = await chromium.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    await page.goto(`${url.replace('127.0.0.1', 'localhost')}/docs/idempotency`);
    await page.locator('[role=tab][data-way=curl]').first().focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator(':focus').textContent()).toBe('Node');
    const chosen = await page.locator('[role=tab][aria-selected=true]').allTextContents();
    expect([...new Set(chosen)]).toEqual(['Node']);
    await page.locator('.way:visible .copy').first().click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain("from 'payments-api'");
    await page.goto(`${url.replace('127.0.0.1', 'localhost')}/docs/states`);
    expect(await page.locator('[role=tab][aria-selected=true]').first().textContent()).toBe('Node');
    await context.close();
    await app.close();
  });
});
