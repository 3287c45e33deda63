// A person's way through the dashboard, from sign-up to money that comes back, in a real browser. All of it is one story on one
// service: what one part leaves behind is what the next one looks at, and nothing is started or made twice.
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import type { Harness } from '../../contract/payments/harness.ts';
import { type Receiver, startReceiver } from '../../contract/payments/receiver.ts';
import { hasChromium, openPage, startChromium, type WatchedPage } from '../chromium.ts';
import { testColleagues } from './colleagues.ts';
import { testFinding } from './finding.ts';
import { testFirstSteps } from './first-steps.ts';
import { testGoingLive } from './going-live.ts';
import { testJourneysEnd } from './journeys-end.ts';
import { testLoggingIn } from './logging-in.ts';
import { testMoneyBack } from './money-back.ts';
import { startDashboard } from './rig.ts';
import { testWebhooks } from './webhooks.ts';

const SLOW_MACHINE_MS = 90_000;

describe.runIf(hasChromium)('a person at the dashboard', { timeout: SLOW_MACHINE_MS }, () => {
  let harness: Harness;
  let chromium: Chromium;
  let receiver: Receiver;
  let watched: WatchedPage;
  let url: string;
  const kept = { serverKey: '', failedPath: '' };

  beforeAll(async () => {
    [harness, receiver, chromium] = await Promise.all([startDashboard(), startReceiver(), startChromium()]);
    // By its name: passkeys belong to names, and a bare address is none.
    url = harness.url.replace('127.0.0.1', 'localhost');
    watched = await openPage(chromium, url);
    watched.page.setDefaultTimeout(30_000);
  }, SLOW_MACHINE_MS);
  afterAll(async () => {
    await chromium?.close();
    await receiver?.stop();
    await harness?.stop();
  });

  const running = () => ({ harness, url, chromium, receiver, watched, page: watched.page, kept });
  testFirstSteps(running);
  testWebhooks(running);
  testMoneyBack(running);
  testFinding(running);
  testLoggingIn(running);
  testGoingLive(running);
  testColleagues(running);
  testJourneysEnd(running);
});
