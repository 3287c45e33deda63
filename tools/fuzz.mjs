// npm run fuzz [-- target … --minutes=10 --seed=1]: the fuzzers for long; npm test runs a short form.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';

ensureInstalled();
const { status } = spawnSync(node, [join(root, 'tests', 'fuzz', 'main.ts'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
