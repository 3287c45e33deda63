// npm run pooled [file …]: the contract tests of both products through PgBouncer in transaction mode.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, fail, node, root } from './install.mjs';
import { ensureSystemPrograms } from './system.mjs';

ensureInstalled();
const missing = ensureSystemPrograms().filter((program) => program.startsWith('pgbouncer'));
if (missing.length > 0) fail('PgBouncer is not installed: apt-get install pgbouncer.');
const chosen = process.argv.slice(2);
const tests =
  chosen.length > 0
    ? chosen
    : ['tests/contract', 'tests/pooled', 'tests/faults/settling', 'libs/db/src/connection/pooled-role'];
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(node, [vitest, 'run', '--project=db', ...tests], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, TEST_THROUGH: 'pgbouncer' },
});
process.exit(status ?? 1);
