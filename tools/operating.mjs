// npm run restore: destroys a database under load and restores it to a second before. npm run upgrade [commit]: brings new
// processes in beside those of an earlier commit. Both products, one after the other; npm test runs short forms of all.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, fail, node, root } from './install.mjs';

const usage = 'Usage: npm run restore, or npm run upgrade [commit]';
const [what, ...rest] = process.argv.slice(2);
if (rest.some((word) => word === '--help' || word === '-h')) {
  console.log(usage);
  process.exit(0);
}
const most = { restore: 0, upgrade: 1 }[what];
if (most === undefined || rest.length > most || rest[0]?.startsWith('-')) fail(usage);
const [commit] = rest;
if (what === 'upgrade') checkHistory();
ensureInstalled();

/** Without the commit, or without any history, the tests are left out, and nothing that was left out has been tried. */
function checkHistory() {
  const { stdout } = git('rev-parse', '--is-shallow-repository');
  if (stdout?.trim() !== 'false')
    fail('The earlier version comes from the history of the repository: run this in a whole clone of it.');
  if (commit !== undefined && git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`).status !== 0)
    fail(`There is no commit “${commit}” here.`);
}

function git(...args) {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' });
}

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
