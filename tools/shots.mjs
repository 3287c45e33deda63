// npm run shots [page …]: pictures of every page of the dashboards, for somebody to look at.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';
import { ensureSystemPrograms } from './system.mjs';

ensureInstalled();
ensureSystemPrograms();
const { status } = spawnSync(node, [join(root, 'tests', 'browser', 'shots.ts'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
