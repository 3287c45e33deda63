// npm run check: what is quick enough to run before every commit.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';

ensureInstalled();
const bin = (name) => join(root, 'node_modules', '.bin', name);
const steps = [
  [bin('biome'), ['check', '--error-on-warnings', '.']],
  [bin('tsc'), ['-p', '.']],
  [
    node,
    [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'tools', 'services/*/src', '--reporter=dot'],
  ],
];
for (const [command, args] of steps) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
