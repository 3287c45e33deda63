// Every page of Toolhub's dashboard in a real browser, for an account that has been used for a while and for a new one.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { hasChromium, openPage, startChromium, type WatchedPage } from '../chromium.ts';
import { testEveryPage } from './every-page.ts';
import { type Dashboard, startDashboard } from './rig.ts';
import { seed } from './seed.ts';
import { STEP_MS } from './steps.ts';

describe.runIf(hasChromium)('the pages of Toolhub', () => {
  let hub: Dashboard;
  let chromium: Browser;
  let watched: WatchedPage;

  beforeAll(async () => {
    [hub, chromium] = await Promise.all([startDashboard(), startChromium()]);
    const { cookie } = await seed(hub);
    const [name = '', value = ''] = cookie.split('=');
    watched = await openPage(chromium, hub.url);
    watched.page.setDefaultTimeout(STEP_MS);
    await watched.page.context().addCookies([{ name, value, url: hub.url }]);
  }, 120_000);

  afterAll(async () => {
    await chromium?.close();
    await hub?.stop();
  });

  testEveryPage(() => ({ hub, chromium, watched, page: watched.page }));
});
