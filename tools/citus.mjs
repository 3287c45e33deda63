// npm run citus [file …]: the contract tests on a Citus cluster, their tables spread by tenant. CITUS_TEST_URL names a
// database on the coordinator, with a role that may make others there and on the workers: each test has its own.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, fail, node, root } from './install.mjs';

if (!process.env.CITUS_TEST_URL)
  fail('CITUS_TEST_URL must name a database on the coordinator of a Citus cluster.');
ensureInstalled();
const chosen = process.argv.slice(2);
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const tests = chosen.length > 0 ? chosen : ['tests/contract'];
// Making a database on a cluster takes half a minute, and each tenant of a batch its own statements.
const PATIENCE = ['--testTimeout=180000', '--hookTimeout=300000', '--expect.poll.timeout=60000'];
const { status } = spawnSync(node, [vitest, 'run', '--project=db', '--maxWorkers=1', ...PATIENCE, ...tests], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
