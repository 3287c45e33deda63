// npm run check: what is quick enough to run before every commit. npm run format: mends what can be mended.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';

ensureInstalled();
const bin = (name) => join(root, 'node_modules', '.bin', name);
const format = [[bin('biome'), ['check', '--write', '.']]];
const check = [
  [bin('biome'), ['check', '--error-on-warnings', '.']],
  [bin('tsc'), ['-p', '.']],
  [bin('tsc'), ['-p', 'tsconfig.browser.json']],
  // Nothing is exported, installed or kept that nobody uses.
  [node, [join(root, 'node_modules', 'knip', 'bin', 'knip.js'), '--no-progress']],
  // The rules of the house and every test that needs no database (see "Tests" in CONTRIBUTING.md).
  [node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'unit', '--reporter=dot']],
];
for (const [command, args] of process.argv[2] === 'format' ? format : check) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
