// npm run faults [--seed=1]: the long form of the tests that kill processes and break what is around them; npm test runs a
// short form. A seed repeats a run: the same disturbances in the same order.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';

const tests = [
  'tests/faults',
  'services/payments/src/rails/rtp/test/never-twice.db.property.test.ts',
  'tests/contract/toolhub/webhooks-fairness.db.test.ts',
  'tests/contract/toolhub/kills.db.test.ts',
  'services/toolhub/src/invoices/run-processes.db.test.ts',
];

const seed = process.argv.find((argument) => argument.startsWith('--seed='))?.slice('--seed='.length);

ensureInstalled();
const { status } = spawnSync(node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...tests], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    FAULTS_KILLS: '20',
    FAULTS_ROUNDS: '5',
    ...(seed === undefined ? {} : { FAULTS_SEED: seed }),
    FAULTS_TIMEOUTS: '1000',
    FAULTS_EVENTS: '10000',
    FAULTS_CUSTOMERS: '1000',
  },
});
process.exit(status ?? 1);
