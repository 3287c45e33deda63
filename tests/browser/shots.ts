// npm run shots [page …]: pictures of every page of both dashboards, full and empty, in .shots/.
import { startTestServer } from '@libs/db/testing';
import type { Browser, Page } from 'playwright-core';
import { signUp as signUpToToolhub } from '../../services/toolhub/test/accounts.ts';
import { ADMIN_TOKEN } from '../../services/toolhub/test/instance.ts';
import { signUp, verifyAddress } from '../contract/payments/person.ts';
import { startReceiver } from '../contract/payments/receiver.ts';
import { startChromium } from './chromium.ts';
import {
  dialogs,
  listPages,
  objectPages,
  operatorPages,
  otherDialogs,
  otherPages,
  publicPages,
  statePages,
} from './payments/pages.ts';
import { startDashboard } from './payments/rig.ts';
import { seed, seedForPictures, seedOperator, seedStates } from './payments/seed.ts';
import { folder, picture } from './pictures.ts';
import * as toolhubPages from './toolhub/pages.ts';
import * as toolhubRig from './toolhub/rig.ts';
import * as toolhubSeed from './toolhub/seed.ts';

const wanted = process.argv.slice(2);
const pagesWanted = wanted.filter((word) => word !== 'payments' && word !== 'toolhub');

/** As far as the window shows, with the dialog that the button opens. */
async function pictureDialogs(
  chromium: Browser,
  url: string,
  options: {
    dialogs: Record<string, readonly [path: string, button: string | RegExp]>;
    cookie: string | undefined;
    prefix: string;
    enter?: (page: Page) => Promise<void>;
  },
): Promise<void> {
  const { dialogs: opened, cookie, prefix } = options;
  await picture(chromium, url, {
    ...{ wanted: pagesWanted, cookie, prefix, windowOnly: true },
    pages: Object.fromEntries(Object.entries(opened).map(([name, [path]]) => [name, path])),
    async enter(page, name) {
      await options.enter?.(page);
      const [, button] = opened[name] as readonly [string, string | RegExp];
      await page.getByRole('button', { name: button, exact: true }).first().click();
      await page.getByRole('dialog').waitFor();
    },
  });
}

async function enterAsOperator(page: Page): Promise<void> {
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.getByRole('tab').first().waitFor();
}

async function ofPayments(chromium: Browser): Promise<void> {
  const harness = await startDashboard();
  const receiver = await startReceiver();
  try {
    const full = await signUp(harness, { name: 'Ada Lovelace', organisation: 'Analytical Engines' });
    await verifyAddress(harness, full);
    await harness.call('POST', `/v1/admin/users/${full.email}/operator`, {
      key: 'admin_token_of_the_tests',
      body: { operator: true },
    });
    const seeded = await seed(full, receiver.url, 24);
    await seedOperator(harness);
    receiver.respond = (response, { path }) =>
      response.writeHead(path === '/failing' ? 500 : 204).end(path === '/failing' ? 'out of stock' : '');
    const others = await seedForPictures(harness, full, `${receiver.url}/failing`);
    const empty = await signUp(harness, { name: 'Grace Hopper', organisation: 'Empty Hall' });
    await picture(chromium, harness.url, {
      wanted: pagesWanted,
      pages: publicPages,
      cookie: undefined,
      prefix: '',
    });
    const pages = { ...listPages, ...objectPages(seeded), ...operatorPages, ...otherPages(others) };
    await picture(chromium, harness.url, { wanted: pagesWanted, pages, cookie: full.cookie, prefix: '' });
    await pictureDialogs(chromium, harness.url, {
      ...{ dialogs: { ...dialogs(seeded), ...otherDialogs }, cookie: full.cookie, prefix: '' },
    });
    // Last, since the clock stands still from then on.
    const states = statePages(await seedStates(full));
    await picture(chromium, harness.url, {
      wanted: pagesWanted,
      pages: states,
      cookie: full.cookie,
      prefix: '',
    });
    await picture(chromium, harness.url, {
      wanted: pagesWanted,
      pages: listPages,
      cookie: empty.cookie,
      prefix: 'empty-',
    });
  } finally {
    await receiver.stop();
    await harness.stop();
  }
}

async function ofToolhub(chromium: Browser): Promise<void> {
  const hub = await toolhubRig.startDashboard();
  const { publicPages: open, customerPages: pages } = toolhubPages;
  try {
    const full = await toolhubSeed.seed(hub);
    const empty = await signUpToToolhub(hub.url);
    await picture(chromium, hub.url, {
      wanted: pagesWanted,
      pages: open,
      cookie: undefined,
      prefix: 'toolhub-',
    });
    await picture(chromium, hub.url, { wanted: pagesWanted, pages, cookie: full.cookie, prefix: 'toolhub-' });
    await picture(chromium, hub.url, {
      wanted: pagesWanted,
      pages: toolhubPages.operatorPages,
      cookie: undefined,
      prefix: 'toolhub-',
      enter: enterAsOperator,
    });
    const prefix = 'toolhub-';
    const { dialogs: ofCustomers, operatorDialogs } = toolhubPages;
    await pictureDialogs(chromium, hub.url, { dialogs: ofCustomers, cookie: full.cookie, prefix });
    await pictureDialogs(chromium, hub.url, {
      ...{ dialogs: operatorDialogs, cookie: undefined, prefix },
      enter: enterAsOperator,
    });
    await picture(chromium, hub.url, {
      wanted: pagesWanted,
      pages,
      cookie: empty.cookie,
      prefix: 'toolhub-empty-',
    });
  } finally {
    await hub.stop();
  }
}

const products = { payments: ofPayments, toolhub: ofToolhub };
const chosen = (Object.keys(products) as (keyof typeof products)[]).filter((name) => wanted.includes(name));
const postgres = await startTestServer();
process.env.TEST_POSTGRES_URL = postgres.url;
const chromium = await startChromium();
try {
  for (const name of chosen.length === 0 ? Object.keys(products) : chosen)
    await products[name as keyof typeof products](chromium);
  console.log(`The pictures are in ${folder}`);
} finally {
  await chromium.close();
  await postgres.stop();
}
