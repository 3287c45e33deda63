// npm run restore: destroys a database under load and restores it to a second before. npm run upgrade [commit]: brings new
// processes in beside those of an earlier commit. Both products, one after the other; npm test runs short forms of all.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, fail, node, root } from './install.mjs';

const [what, commit] = process.argv.slice(2);
if (what !== 'restore' && what !== 'upgrade') fail('Say restore or upgrade.');
ensureInstalled();
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(node, [vitest, 'run', '--no-file-parallelism', `tests/operating/${what}-`], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    RESTORE_LOAD_MS: '10000',
    UPGRADE_STEP_MS: '5000',
    UPGRADE_PROCESSES: '3',
    ...(commit === undefined ? {} : { UPGRADE_FROM: commit }),
  },
});
process.exit(status ?? 1);
