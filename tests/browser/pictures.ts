// Pictures of pages, on a desktop and a phone, light and dark.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

export const folder = fileURLToPath(new URL('../../.shots/', import.meta.url));
const SETTLED_MS = 600;

const desktop = { viewport: { width: 1320, height: 860 } };
const phone = { viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

const looks: [string, BrowserContextOptions][] = [
  ['desktop-light', { ...desktop, colorScheme: 'light' }],
  ['phone-dark', { ...phone, colorScheme: 'dark' }],
  ['desktop-dark', { ...desktop, colorScheme: 'dark' }],
  ['phone-light', { ...phone, colorScheme: 'light' }],
];

/** Of the pages whose name has one of the wanted words in it, or of all. */
export async function picture(
  chromium: Browser,
  url: string,
  options: {
    wanted: readonly string[];
    pages: Record<string, string>;
    cookie: string | undefined;
    prefix: string;
    /** What has to be typed or pressed before a page shows what it is for. */
    enter?: (page: Page, name: string) => Promise<void>;
    /** As far as the window shows, as a dialog is seen; else the page as a whole. */
    windowOnly?: boolean;
  },
): Promise<void> {
  const { wanted } = options;
  await mkdir(folder, { recursive: true });
  for (const [look, context] of looks) {
    const opened = await chromium.newContext({ ...context, baseURL: url, reducedMotion: 'reduce' });
    if (options.cookie !== undefined) {
      const [name = '', value = ''] = options.cookie.split('=');
      await opened.addCookies([{ name, value, url: url }]);
    }
    const page = await opened.newPage();
    for (const [name, path] of Object.entries(options.pages)) {
      const file = `${options.prefix}${name}-${look}`;
      if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) continue;
      await page.goto(path);
      await page.waitForSelector('h1');
      await options.enter?.(page, name);
      await page.waitForTimeout(SETTLED_MS);
      await page.screenshot({ path: `${folder}${file}.png`, fullPage: options.windowOnly !== true });
    }
    await opened.close();
  }
}
