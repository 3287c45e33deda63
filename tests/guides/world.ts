// The reader's machine: an empty folder with the SDKs as their registries would give them, and a server to ask.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { installedPython, packedNodeSdk, root } from '../../sdks/test/packed.ts';
import { freePort } from '../browser/chromium.ts';
import type { World } from './follow.ts';

const run = promisify(execFile);

/** A loaded machine may need longer than the moment that a reader waits, and a quiet one is sooner done. */
const WAIT_FOR_PAYMENT = `for TRY in $(seq 100); do
  curl -sS "$GUIDE_URL/v1/payments/$PAYMENT" -H 'Authorization: Bearer sk_test_sandbox' | grep -qE '"status":"(completed|failed)"' && break
  sleep 0.2
done`;

export async function makeWorld(extra: Record<string, string>, ports: readonly number[]): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'guides-'));
  const [archive, python] = await Promise.all([packedNodeSdk(), installedPython()]);
  const installed = join(folder, 'node_modules', 'payments-api');
  mkdirSync(installed, { recursive: true });
  mkdirSync(join(folder, 'node_modules', '.bin'));
  mkdirSync(join(folder, 'home'));
  await run('tar', ['-xzf', archive, '-C', installed, '--strip-components=1']);
  symlinkSync('../payments-api/dist/esm/cli/main.js', join(folder, 'node_modules', '.bin', 'payments'));
  let isInstalled = false;
  const receivers = new Map<string, number>();
  for (const port of ports) receivers.set(`localhost:${port}`, await freePort());
  return {
    folder,
    repository: root,
    python,
    env: {
      PATH: `${join(folder, 'node_modules', '.bin')}:${dirname(python)}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
      HOME: join(folder, 'home'),
      PYTHONDONTWRITEBYTECODE: '1',
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
      ...extra,
    },
    adapt(text) {
      let adapted = text.replaceAll('pip install payments-api', 'python3 -c "import payments_api"');
      // npm takes seconds, so one installation is real, and what else it would do is done by what is installed already.
      adapted = adapted.replaceAll('npm install payments-api', () =>
        isInstalled
          ? `node -e "import('payments-api')"`
          : `npm install --offline --no-audit --no-fund --silent ${archive}`,
      );
      isInstalled ||= text.includes('npm install payments-api');
      // The command of a reader would also build the pages of the dashboard, for a minute.
      adapted = adapted.replaceAll('npm run payments', 'node services/payments/src/main.ts');
      adapted = adapted.replaceAll(/^sleep 2$/gm, WAIT_FOR_PAYMENT);
      adapted = adapted.replaceAll('npx payments', 'payments');
      for (const [written, port] of receivers) {
        adapted = adapted.replaceAll(written, `localhost:${port}`);
        adapted = adapted.replaceAll(`("localhost", ${written.split(':')[1]})`, `("localhost", ${port})`);
        adapted = adapted.replaceAll(`listen(${written.split(':')[1]})`, `listen(${port})`);
      }
      return adapted;
    },
  };
}
