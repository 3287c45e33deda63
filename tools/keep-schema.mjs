// npm run keep-schema: keeps the schema of this version, for the test that upgrades it (once for each release).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';

ensureInstalled();
const { status } = spawnSync(node, [join(root, 'tests', 'schema', 'keep.ts')], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
