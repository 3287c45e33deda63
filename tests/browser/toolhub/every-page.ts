// What holds for every page: it can be used by everybody, fits its window, is nobody else's, and begins with little script.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp } from '../../../services/toolhub/test/accounts.ts';
import { seriousViolations } from '../axe.ts';
import { openPage, outOfPanels, sidewaysPixels, timesWithoutZone, type WatchedPage } from '../chromium.ts';
import { customerPages, publicPages } from './pages.ts';
import { ADA, type Running } from './rig.ts';

/** The narrowest that is common. */
const PHONE = { width: 360, height: 740 };
/** The rows of all tools are made alike, and there are many. */
const SOME_TOOLS = '/tools?platform=mastodon';
/** Pages that look otherwise while there is nothing to show. */
const emptyPages: ReadonlySet<string> = new Set([
  '/',
  '/connections',
  '/webhooks',
  '/billing',
  '/tokens',
  '/approvals',
]);

export function testStranger(running: () => Running): void {
  test('[TH-11.35] somebody else sees none of it', { timeout: 60_000 }, async () => {
    const { hub, chromium } = running();
    const { cookie } = await signUp(hub.url);
    const [name = '', value = ''] = cookie.split('=');
    const { page: other } = await openPage(chromium, hub.url);
    await other.context().addCookies([{ name, value, url: hub.url }]);
    const { rows } = await hub.database.database.query<{ id: string }>(`select id from approvals limit 1`);
    for (const [path, empty] of [
      ['/', '0 of 1,000 calls'],
      ['/connections', 'Read, send and organise your mail.'],
      ['/webhooks', 'Set up the webhook'],
      ['/billing', 'No invoices yet'],
      ['/tokens', 'No tokens yet'],
      ['/assistants', 'No client is connected yet'],
      [`/approvals?id=${rows[0]?.id}`, 'Not found'],
    ] as const) {
      await walkTo(other, path);
      await other.getByText(empty).first().waitFor();
      const text = (await other.locator('body').textContent()) ?? '';
      for (const theirs of [
        ADA.email,
        'Analytical Engines',
        '@ada@social.test',
        '/hooks',
        'INV-',
        'Token of Ada',
      ])
        expect(text, `${path} shows ${theirs}`).not.toContain(theirs);
    }
    await other.context().close();
  });
}

export function testEveryPage(running: () => Running): void {
  test('[TH-11.27] no page has a serious fault, for a full account and for a new one', {
    timeout: 300_000,
  }, async () => {
    const { hub, chromium, page, watched } = running();
    const stranger = await signUp(hub.url);
    const [name = '', value = ''] = stranger.cookie.split('=');
    const other = await openPage(chromium, hub.url, {
      viewport: PHONE,
      isMobile: true,
    });
    const found: string[] = [];
    const inspect = async ({ page: shown }: WatchedPage, path: string) => {
      await walkTo(shown, path === '/tools' ? SOME_TOOLS : path);
      expect(await shown.getByRole('heading', { level: 1 }).count(), path).toBe(1);
      // What stands around every page is looked at once.
      const within = path === '/' || Object.values(publicPages).includes(path) ? 'body' : 'main';
      found.push(...(await seriousViolations(shown, undefined, within)).map((fault) => `${path}: ${fault}`));
    };
    const onThePhone = async () => {
      for (const path of Object.values(publicPages)) await inspect(other, path);
      await other.page.context().addCookies([{ name, value, url: hub.url }]);
      await other.page.goto('/tools');
      for (const path of Object.values(customerPages)) {
        if (emptyPages.has(path)) await inspect(other, path);
        else await walkTo(other.page, path);
        if ((await sidewaysPixels(other.page)) > 0) found.push(`${path}: wider than a phone`);
      }
    };
    const onTheDesktop = async () => {
      await page.goto('/tools');
      for (const path of Object.values(customerPages)) {
        await inspect(watched, path);
        found.push(...(await timesWithoutZone(page)).map((fault) => `${path}: ${fault}`));
        found.push(...(await windowsTooNarrow(page)).map((fault) => `${path}: ${fault}`));
      }
    };
    await Promise.all([onThePhone(), onTheDesktop()]);
    expect(found).toEqual([]);
    expect([...watched.faults, ...other.faults]).toEqual([]);
  });

  test('[TH-11.28] the first load is at most 300 KB of script', { timeout: 30_000 }, async () => {
    const { hub, chromium } = running();
    const fresh = await openPage(chromium, hub.url);
    let bytes = 0;
    fresh.page.on('response', (response) => {
      if (response.url().endsWith('.js')) bytes += Number(response.headers()['content-length'] ?? 0);
    });
    await fresh.page.goto('/');
    await fresh.page.getByRole('heading', { level: 1 }).waitFor();
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(300_000);
  });
}

/** Of a desktop at 400 %, of a phone, and of a tablet upright and lying; then the window is as it was. */
async function windowsTooNarrow(shown: Page): Promise<string[]> {
  const before = shown.viewportSize();
  const found: string[] = [];
  for (const width of [320, PHONE.width, 820, 1_024]) {
    await shown.setViewportSize({ width, height: 800 });
    if ((await sidewaysPixels(shown)) > 0) found.push(`wider than ${width} px`);
    found.push(...(await outOfPanels(shown)).map((text) => `at ${width} px out of its panel: ${text}`));
  }
  if (before !== null) await shown.setViewportSize(before);
  return found;
}

const HEADING = `document.querySelector('h1')?.textContent ?? null`;

/** As a link does it, without loading the program anew; every page has a heading of its own. */
async function walkTo(page: Page, path: string): Promise<void> {
  const heading = page.getByRole('heading', { level: 1 });
  if (page.url() === 'about:blank') {
    await page.goto(path);
    return heading.waitFor();
  }
  await heading.waitFor();
  const before = await heading.textContent();
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
  const isThere = async () => ![null, before].includes(await page.evaluate<string | null>(HEADING));
  await expect.poll(isThere, { interval: 50 }).toBe(true);
}
