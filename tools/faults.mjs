// npm run faults: the long form of the tests that kill processes; npm test runs a short form.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';

ensureInstalled();
const { status } = spawnSync(
  node,
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'tests/faults'],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, FAULTS_KILLS: '20' },
  },
);
process.exit(status ?? 1);
