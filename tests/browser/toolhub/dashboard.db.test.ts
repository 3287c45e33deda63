// A person's way through Toolhub's dashboard, in a real browser. All of it is one story on one service: what one part
// leaves behind is what the next one looks at, and nothing is started or made twice.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { hasChromium, openPage, startChromium, type WatchedPage } from '../chromium.ts';
import { testConnecting } from './connecting.ts';
import { testStranger } from './every-page.ts';
import { testJourney, testJourneysEnd } from './journey.ts';
import { testOperator } from './operator.ts';
import { type Dashboard, startDashboard } from './rig.ts';
import { STEP_MS } from './steps.ts';

describe.runIf(hasChromium)('the dashboard of Toolhub', () => {
  let hub: Dashboard;
  let chromium: Browser;
  let watched: WatchedPage;

  beforeAll(async () => {
    [hub, chromium] = await Promise.all([startDashboard(), startChromium()]);
    watched = await openPage(chromium, hub.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    watched.page.setDefaultTimeout(STEP_MS);
  }, 120_000);

  afterAll(async () => {
    await chromium?.close();
    await hub?.stop();
  });

  const running = () => ({ hub, chromium, watched, page: watched.page });
  testConnecting(running);
  testJourney(running);
  testStranger(running);
  testJourneysEnd(running);
  testOperator(running);
});
