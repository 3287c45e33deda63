// Toolhub in this process with its built dashboard, a vendor to connect, and a receiver of webhooks.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestDatabase } from '@libs/db/testing';
import { buildDashboard } from '@libs/ui/build';
import type { Browser, Page } from 'playwright-core';
import { createToolhubDatabase, startInstance } from '../../../services/toolhub/test/instance.ts';
import { type Receiver, startReceiver } from '../../contract/toolhub/receiver.ts';
import { type MastodonServer, startMastodon } from '../../vendors/mastodon/server.ts';
import type { WatchedPage } from '../chromium.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const NOBODY = '127.0.0.1:9';

export const VENDOR_TOKEN = 'token-of-ada';

/** Who goes the way through the pages. */
export const ADA = { email: 'ada@example.com', password: 'a long enough password' };

/** What all tests of the dashboard use. */
export interface Serving {
  hub: Dashboard;
  chromium: Browser;
}

/** What her way through the pages uses, too. */
export interface Running extends Serving {
  /** Ada's window. */
  watched: WatchedPage;
  page: Page;
}

export interface Dashboard {
  url: string;
  database: TestDatabase;
  vendor: MastodonServer;
  receiver: Receiver;
  mailbox: Mailbox;
  /** The address that a mail to somebody leads to: of this page, where it is named. */
  linkInMail(email: string, page?: string): Promise<string>;
  /** As when the service is restarted: at the same address, with the same data. */
  stopServing(): Promise<void>;
  serveAgain(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDashboard(): Promise<Dashboard> {
  const [, folder, database, vendor, receiver, mailbox] = await Promise.all([
    buildDashboard({
      root,
      folder: `${root}services/toolhub/dashboard`,
      libraries: [`${root}libs/ui`],
      base: '/dashboard/',
    }),
    mkdtemp(join(tmpdir(), 'toolhub-pages-')),
    createToolhubDatabase(),
    startMastodon(),
    startReceiver(),
    startMailbox(),
  ]);
  vendor.addAccount('ada', VENDOR_TOKEN);
  vendor.addStatus('ada', 'A first note on the engine');
  const env = {
    DATA_DIR: folder,
    TOOLHUB_CONNECTOR_MASTODON_URL: vendor.url,
    // Nobody is there.
    TOOLHUB_CONNECTOR_BLUESKY_URL: `http://${NOBODY}`,
    TOOLHUB_EGRESS_ALLOW: [new URL(vendor.url).host, receiver.place, ...mailbox.places, NOBODY].join(','),
    TOOLHUB_SELLER_NAME: 'Toolhub Ltd',
    TOOLHUB_SELLER_ADDRESS: '1 Main Street; 10115 Springfield',
    TOOLHUB_SELLER_TAX_ID: 'XX999999999',
    TOOLHUB_PAYMENT_DETAILS: 'Bank of Springfield; IBAN DE02 1203 0000 0000 2020 51; BIC BYLADEM1001',
    TOOLHUB_PAYMENT_URL: 'https://pay.example/{number}?cents={amount_cents}',
  };
  let instance = await startInstance(database.url, { env, jobs: true });
  const port = Number(new URL(instance.url).port);
  return {
    url: instance.url,
    database,
    vendor,
    receiver,
    mailbox,
    linkInMail: (email, page = '[a-z]+') =>
      linkInMail(join(folder, 'mail'), email, `${instance.url}/${page}`),
    stopServing: () => instance.stop(),
    async serveAgain() {
      instance = await startInstance(database.url, { env, jobs: true, port });
    },
    async stop() {
      await instance.stop();
      await Promise.all([receiver.stop(), mailbox.stop(), vendor.stop()]);
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const MAIL_TRIES_MAX = 100;

async function linkInMail(folder: string, email: string, address: string): Promise<string> {
  for (let tries = 0; tries < MAIL_TRIES_MAX; tries += 1) {
    const names = await readdir(folder).catch(() => [] as string[]);
    for (const name of names.filter((each) => each.endsWith('.eml'))) {
      const source = (await readFile(join(folder, name), 'utf8'))
        .replaceAll('=\r\n', '')
        .replaceAll('=3D', '=');
      const link = new RegExp(`${address}\\?token=[\\w-]+`).exec(source)?.[0];
      if (source.includes(email) && link !== undefined) return link;
    }
    await new Promise((resume) => setTimeout(resume, 100));
  }
  throw new Error(`no mail to ${email}`);
}
