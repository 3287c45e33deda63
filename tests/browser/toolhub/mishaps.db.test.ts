// What can go wrong at Toolhub's dashboard, and what is easily lost there: each in a window of its own, on one service.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { hasChromium, startChromium } from '../chromium.ts';
import { testKeyboard } from './keyboard.ts';
import { testLayout } from './layout.ts';
import { testMishaps } from './mishaps.ts';
import { testNotLost } from './not-lost.ts';
import { type Dashboard, startDashboard } from './rig.ts';
import { testStayingTrue } from './staying-true.ts';
import { testTelling } from './telling.ts';
import { testTrying } from './trying.ts';
import { testReach } from './within-reach.ts';

describe.runIf(hasChromium)('mishaps at the dashboard of Toolhub', () => {
  let hub: Dashboard;
  let chromium: Browser;

  beforeAll(async () => {
    [hub, chromium] = await Promise.all([startDashboard(), startChromium()]);
  }, 120_000);

  afterAll(async () => {
    await chromium?.close();
    await hub?.stop();
  });

  const serving = () => ({ hub, chromium });
  testKeyboard(serving);
  testLayout(serving);
  testMishaps(serving);
  testTelling(serving);
  testStayingTrue(serving);
  testNotLost(serving);
  testReach(serving);
  testTrying(serving);
});
