// npm run month [payments]: the simulated months in full (10,000 payments); npm test runs a short form.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';

ensureInstalled();
const { status } = spawnSync(node, [join(root, 'tests', 'month', 'main.ts'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
