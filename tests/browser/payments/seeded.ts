// An organisation that has a bit of everything, its owner, who is an operator, too, and a browser that looks at it.
import type { Browser as Chromium, Page } from 'playwright-core';
import { ADMIN_TOKEN, type Harness } from '../../contract/payments/harness.ts';
import { type Browser, signUp, verifyAddress } from '../../contract/payments/person.ts';
import { type Receiver, startReceiver } from '../../contract/payments/receiver.ts';
import { isWhole, openPage, startChromium, type WatchedPage } from '../chromium.ts';
import { startDashboard } from './rig.ts';
import { type Seeded, seed, seedOperator } from './seed.ts';

export interface SeededDashboard {
  harness: Harness;
  owner: Browser;
  seeded: Seeded;
  openAs(person: Browser | undefined, options?: Parameters<typeof openPage>[2]): Promise<WatchedPage>;
  stop(): Promise<void>;
}

export async function startSeededDashboard(): Promise<SeededDashboard> {
  const [harness, receiver, chromium] = await Promise.all([
    startDashboard(),
    startReceiver(),
    startChromium(),
  ]);
  const owner = await signUp(harness, { name: 'Ada Lovelace', organisation: 'Analytical Engines' });
  await verifyAddress(harness, owner);
  await harness.call('POST', `/v1/admin/users/${owner.email}/operator`, {
    key: ADMIN_TOKEN,
    body: { operator: true },
  });
  const [seeded] = await Promise.all([seed(owner, receiver.url), seedOperator(harness)]);
  return {
    harness,
    owner,
    seeded,
    openAs: (person, options) => openAs({ chromium, url: harness.url }, person, options),
    stop: () => stopAll({ chromium, receiver, harness }),
  };
}

async function openAs(
  { chromium, url }: { chromium: Chromium; url: string },
  person: Browser | undefined,
  options: Parameters<typeof openPage>[2],
): Promise<WatchedPage> {
  const opened = await openPage(chromium, url, options);
  if (person?.cookie !== undefined) {
    const [name = '', value = ''] = person.cookie.split('=');
    await opened.page.context().addCookies([{ name, value, url }]);
  }
  return opened;
}

async function stopAll(parts: { chromium: Chromium; receiver: Receiver; harness: Harness }): Promise<void> {
  await parts.chromium.close();
  await parts.receiver.stop();
  await parts.harness.stop();
}

export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await isWhole(page);
}
