// The reader's machine: an empty folder, and the SDKs as their registries would give them.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@libs/runtime/testing';
import { installedPython, packedNodeSdk, root } from '../../sdks/test/packed.ts';
import { hasPython } from '../../sdks/test/python.ts';
import type { World } from './follow.ts';

const run = promisify(execFile);

/** A folder without anything in it. */
export function emptyWorld(extra: Record<string, string>): World {
  const folder = mkdtempSync(join(tmpdir(), 'guides-'));
  mkdirSync(join(folder, 'home'));
  const path = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;
  return {
    ...{ folder, repository: root, python: 'python3', adapt: (text) => text },
    env: { PATH: path, HOME: join(folder, 'home'), ...extra },
  };
}

/** A loaded machine may need longer than the moment that a reader waits, and a quiet one is sooner done. */
const WAIT_FOR_PAYMENT = `for TRY in $(seq 100); do
  curl -sS "$GUIDE_URL/v1/payments/$PAYMENT" -H 'Authorization: Bearer sk_test_sandbox' | grep -qE '"status":"(completed|failed)"' && break
  sleep 0.2
done`;

/** With both SDKs, and other ports in place of those that the guides name. */
export async function worldWithSdks(extra: Record<string, string>, ports: readonly number[]): Promise<World> {
  const world = emptyWorld(extra);
  const archive = await packedNodeSdk();
  const commands = await installNodeSdk(world.folder, archive);
  const python = hasPython ? await installedPython() : 'python3';
  const free = new Map<number, number>();
  for (const port of ports) free.set(port, await freePort());
  let isInstalled = false;

  /** npm takes seconds, so one installation is real, and what else it would do is done by what is installed already. */
  function installation(): string {
    if (isInstalled) return `node -e "import('payments-api')"`;
    isInstalled = true;
    return `npm install --offline --no-audit --no-fund --silent ${archive}`;
  }

  return {
    ...world,
    python,
    env: {
      ...world.env,
      PATH: `${commands}:${hasPython ? `${dirname(python)}:` : ''}${world.env.PATH}`,
      PYTHONDONTWRITEBYTECODE: '1',
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
    },
    adapt(text) {
      let adapted = text
        .replaceAll('npm install payments-api', installation)
        .replaceAll('pip install payments-api', hasPython ? 'python3 -c "import payments_api"' : 'true')
        // The command of a reader would also build the pages of the dashboard, for a minute.
        .replaceAll('npm run payments', 'node services/payments/src/main.ts')
        .replaceAll('npx payments', 'payments')
        .replaceAll(/^sleep 2$/gm, WAIT_FOR_PAYMENT);
      for (const [written, port] of free)
        adapted = adapted.replaceAll(
          new RegExp(`(localhost:|localhost", |listen\\()${written}\\b`, 'g'),
          `$1${port}`,
        );
      return adapted;
    },
  };
}

/** The folder of its command line. */
async function installNodeSdk(folder: string, archive: string): Promise<string> {
  const installed = join(folder, 'node_modules', 'payments-api');
  const commands = join(folder, 'node_modules', '.bin');
  mkdirSync(installed, { recursive: true });
  mkdirSync(commands);
  await run('tar', ['-xzf', archive, '-C', installed, '--strip-components=1']);
  symlinkSync('../payments-api/dist/esm/cli/main.js', join(commands, 'payments'));
  return commands;
}
