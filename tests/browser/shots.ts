// npm run shots [page …]: pictures of every page, on a desktop and a phone, light and dark, full and empty, in .shots/.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startTestServer } from '@libs/db/testing';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { Harness } from '../contract/payments/harness.ts';
import { signUp, verifyAddress } from '../contract/payments/person.ts';
import { startReceiver } from '../contract/payments/receiver.ts';
import { startChromium } from './chromium.ts';
import { listPages, objectPages, operatorPages, publicPages } from './payments/pages.ts';
import { startDashboard } from './payments/rig.ts';
import { seed } from './payments/seed.ts';

const folder = fileURLToPath(new URL('../../.shots/', import.meta.url));
const wanted = process.argv.slice(2);
const SETTLED_MS = 600;

const desktop = { viewport: { width: 1320, height: 860 } };
const phone = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

const looks: [string, BrowserContextOptions][] = [
  ['desktop-light', { ...desktop, colorScheme: 'light' }],
  ['phone-dark', { ...phone, colorScheme: 'dark' }],
  ['desktop-dark', { ...desktop, colorScheme: 'dark' }],
  ['phone-light', { ...phone, colorScheme: 'light' }],
];

async function picture(
  chromium: Browser,
  harness: Harness,
  options: { pages: Record<string, string>; cookie: string | undefined; prefix: string },
): Promise<void> {
  for (const [look, context] of looks) {
    const opened = await chromium.newContext({ ...context, baseURL: harness.url, reducedMotion: 'reduce' });
    if (options.cookie !== undefined) {
      const [name = '', value = ''] = options.cookie.split('=');
      await opened.addCookies([{ name, value, url: harness.url }]);
    }
    const page = await opened.newPage();
    for (const [name, path] of Object.entries(options.pages)) {
      const file = `${options.prefix}${name}-${look}`;
      if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) continue;
      await page.goto(path);
      await page.waitForSelector('h1');
      await page.waitForTimeout(SETTLED_MS);
      await page.screenshot({ path: `${folder}${file}.png`, fullPage: true });
    }
    await opened.close();
  }
}

await mkdir(folder, { recursive: true });
const postgres = await startTestServer();
process.env.TEST_POSTGRES_URL = postgres.url;
const harness = await startDashboard();
const receiver = await startReceiver();
const chromium = await startChromium();
try {
  const full = await signUp(harness, { name: 'Ada Lovelace', organisation: 'Analytical Engines' });
  await verifyAddress(harness, full);
  await harness.call('POST', `/v1/admin/users/${full.email}/operator`, {
    key: 'admin_token_of_the_tests',
    body: { operator: true },
  });
  const seeded = await seed(full, receiver.url);
  const empty = await signUp(harness, { name: 'Grace Hopper', organisation: 'Empty Hall' });
  await picture(chromium, harness, { pages: publicPages, cookie: undefined, prefix: '' });
  const pages = { ...listPages, ...objectPages(seeded), ...operatorPages };
  await picture(chromium, harness, { pages, cookie: full.cookie, prefix: '' });
  await picture(chromium, harness, { pages: listPages, cookie: empty.cookie, prefix: 'empty-' });
  console.log(`The pictures are in ${folder}`);
} finally {
  await chromium.close();
  await receiver.stop();
  await harness.stop();
  await postgres.stop();
}
