// npm run citus [file …]: the contract tests on a Citus cluster, their tables spread by tenant, and what only a cluster can
// show (tests/citus). CITUS_TEST_URL names a database on the coordinator, whose workers are added and with a role that may make
// others there and on the workers: each test has its own, cloned from one (template_…) that stays for the next run.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, fail, node, root } from './install.mjs';

if (!process.env.CITUS_TEST_URL)
  fail('CITUS_TEST_URL must name a database on the coordinator of a Citus cluster.');
ensureInstalled();
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const config = join('tests', 'citus', 'vitest.config.ts');
const { status } = spawnSync(node, [vitest, 'run', '--config', config, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
