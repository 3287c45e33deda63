// The service with its built dashboard, on a database of its own.
import { fileURLToPath } from 'node:url';
import { freePort } from '@libs/runtime/testing';
import { buildDashboard } from '@libs/ui/build';
import type { Browser, Page } from 'playwright-core';
import { type Harness, startHarness } from '../../contract/payments/harness.ts';
import type { Receiver } from '../../contract/payments/receiver.ts';
import type { WatchedPage } from '../chromium.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Who goes the way through the pages. */
export const GRACE = { email: 'grace@example.com', password: 'a compiler for everybody' };

/** What all parts of the journey use. */
export interface Running {
  harness: Harness;
  /** By its name, as the browser knows the service. */
  url: string;
  chromium: Browser;
  receiver: Receiver;
  /** Grace's window. */
  watched: WatchedPage;
  page: Page;
  /** What one part leaves behind for another. */
  kept: { serverKey: string; failedPath: string };
}

/** Does nothing where the last build is of the same sources. */
function ensureBuilt(): Promise<boolean> {
  return buildDashboard({
    root,
    folder: `${root}services/payments/dashboard`,
    libraries: [`${root}libs/ui`],
    base: '/dashboard/',
  });
}

export async function startDashboard(): Promise<Harness> {
  const port = await freePort();
  const env = {
    PAYMENTS_PORT: String(port),
    // By its name: passkeys belong to names, and a bare address is none.
    PAYMENTS_PUBLIC_URL: `http://localhost:${port}`,
    PAYMENTS_SANDBOX_ACH_MS: '300',
    PAYMENTS_SANDBOX_RTP_MS: '50',
  };
  await ensureBuilt();
  return startHarness({ env });
}
