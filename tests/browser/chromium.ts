// A real Chromium that notices what a person would not: errors in the console, requests to elsewhere, broken policies.
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** The same engine without windows, bars and tabs around it takes a fifth less; either will do. */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
/** Without it `npm test` says loudly that these tests were left out. */
export const hasChromium = CHROMIUM !== undefined;

export function startChromium(): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
      '--disable-gpu',
    ],
  });
}

export interface WatchedPage {
  page: Page;
  /** Everything that should not have happened so far. */
  faults: string[];
}

/**
 * Nothing moves: a bar that runs for seconds would be drawn sixty times in each of them, and what is measured stands at once.
 * Nothing is blurred: without a graphics card each drawing of a page behind a dialog is dear.
 */
const STAND_STILL = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    '*, *::before, *::after { transition: none !important; animation: none !important; backdrop-filter: none !important; }',
  );
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}`;

/** A page that may speak with one address alone. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL: url, reducedMotion: 'reduce', ...options });
  await context.addInitScript(STAND_STILL);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // A refusal that the page shows in words is no fault of the page; the browser writes a line for it in any case.
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url()))
      faults.push(`request to ${request.url()}`);
  });
  return { page, faults };
}

/** The list at this address gives one row at a time, whatever it is asked for: what lies behind it is reached by paging alone. */
export async function oneAtATime(page: Page, path: string): Promise<void> {
  await page.route(
    ({ pathname }) => pathname === path,
    (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '1');
      return route.continue({ url: url.href });
    },
  );
}

/**
 * To another page of the program without loading it anew, as its links do; `page` is at one of its pages already. It is there
 * when nothing that it asked for is on its way any more; the line of events stays open for good.
 */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `new Promise((resolve) => {
      const { history } = __TSR_ROUTER__;
      if (location.pathname + location.search === ${JSON.stringify(path)}) return resolve();
      const end = __TSR_ROUTER__.subscribe('onResolved', () => { end(); resolve(); });
      history.push(${JSON.stringify(path)});
    })`,
  );
  await isWhole(page);
}

export async function isWhole(page: Page): Promise<void> {
  await page.waitForSelector('h1');
  await page.locator('.mantine-Skeleton-root, [aria-busy=true]').first().waitFor({ state: 'detached' });
}

/** Until the browser has drawn what was changed. */
export async function isDrawn(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))',
  );
}

const FITS_MS = 5_000;

/**
 * How much of the page lies beside its window, once it has had time to follow a change of the window. By the width that the
 * page is laid out in: a phone's browser zooms out of a page that is too wide, and its `innerWidth` grows with it.
 */
export function sidewaysPixels(page: Page): Promise<number> {
  return page.evaluate<number>(
    `new Promise((resolve) => {
      const end = performance.now() + ${FITS_MS};
      const look = () => {
        const { scrollWidth, clientWidth } = document.documentElement;
        if (scrollWidth <= clientWidth || performance.now() > end) resolve(scrollWidth - clientWidth);
        else requestAnimationFrame(look);
      };
      look();
    })`,
  );
}

/** The beginnings of panels, or of the page itself, whose content reaches beyond their edge, though the window has room. */
export function outOfPanels(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('.ui-panel, .ui-page')].filter((panel) => panel.scrollWidth > panel.clientWidth)
      .map((panel) => panel.textContent.slice(0, 60))`,
  );
}

/** Times of day that do not say their zone, where no line of the page says it for them. */
export function timesWithoutZone(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('time')]
      .filter((time) => /\\d:\\d\\d(\\s[AP]M)?$/.test(time.textContent))
      .filter((time) => !time.closest('.ui-page')?.querySelector('.ui-zone')?.checkVisibility())
      .map((time) => 'without a zone: ' + time.textContent)`,
  );
}
