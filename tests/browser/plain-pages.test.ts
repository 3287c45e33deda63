// The pages that stand by themselves: of an address that is not there, and of a dashboard that is being built.
import { createApp, registerPages } from '@libs/http';
import { describe, expect, test } from 'vitest';
import { hasChromium, openPage, sidewaysPixels, startChromium } from './chromium.ts';

describe.runIf(hasChromium)('a plain page', () => {
  test('can be read by day and by night, on the narrowest phone', { timeout: 60_000 }, async () => {
    const app = await createApp({
      ...{ name: 'pages', version: '1', publicUrl: 'http://127.0.0.1', logLevel: 'silent' },
      ...{ defaultMetrics: false, docsPath: false },
    });
    registerPages(app, { path: '/dashboard', folder: 'not-built', title: 'The dashboard' });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const browser = await startChromium();
    const seen: unknown[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await openPage(browser, url, { colorScheme, viewport: { width: 320, height: 600 } });
      for (const path of ['/nothing/here', '/dashboard']) {
        await page.goto(path);
        const ink = await page.evaluate<string>(`getComputedStyle(document.querySelector('h1')).color`);
        seen.push([colorScheme, path, ink, await sidewaysPixels(page)]);
      }
    }
    await browser.close();
    await app.close();
    const [black, white] = ['rgb(0, 0, 0)', 'rgb(255, 255, 255)'];
    expect(seen).toEqual([
      ['light', '/nothing/here', black, 0],
      ['light', '/dashboard', black, 0],
      ['dark', '/nothing/here', white, 0],
      ['dark', '/dashboard', white, 0],
    ]);
  });
});
