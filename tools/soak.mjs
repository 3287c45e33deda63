// npm run soak [minutes]: twenty minutes at 70 % of what one process can do, in which nothing may grow; npm test runs seconds.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';
import { ensureBenchmarkPrograms } from './system.mjs';

ensureInstalled();
ensureBenchmarkPrograms();
const { status } = spawnSync(node, [join(root, 'tests', 'soak', 'main.ts'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
