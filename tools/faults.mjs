// npm run faults [-- --seed=1]: the long form of the tests that kill processes and break what is around them; npm test runs a
// short form. A seed repeats a run: the same disturbances in the same order.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, fail, node, root } from './install.mjs';

const tests = [
  'tests/faults',
  'services/payments/src/rails/rtp/test/never-twice.db.property.test.ts',
  'tests/contract/toolhub/webhooks-fairness.db.test.ts',
  'tests/contract/toolhub/kills.db.test.ts',
  'services/toolhub/src/invoices/run-processes.db.test.ts',
];

const usage = 'Usage: npm run faults [-- --seed=1]';
const words = process.argv.slice(2);
if (words.includes('--help') || words.includes('-h')) {
  console.log(usage);
  process.exit(0);
}
const seed = /^--seed=(\d+)$/.exec(words[0] ?? '')?.[1];
// Without the two dashes npm keeps the seed for itself, and the run would be another one than was asked for.
if (words.length > (seed === undefined ? 0 : 1) || process.env.npm_config_seed !== undefined) fail(usage);

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
