// The service with its built dashboard, on a database of its own.
import { fileURLToPath } from 'node:url';
import { buildDashboard } from '@libs/ui/build';
import { type Harness, startHarness } from '../../contract/payments/harness.ts';
import { freePort } from '../chromium.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

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
