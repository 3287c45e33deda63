// npm run bench [name …]: each file of bench/ prints one line: name, ours, other, ratio, bar.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';
import { ensureBenchmarkPrograms } from './system.mjs';

ensureInstalled();
ensureBenchmarkPrograms();
const { status } = spawnSync(node, [join(root, 'bench', 'run.ts'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
