// npm test [file …]: everything that proves the repository in minutes, on a machine with nothing but Node and npm.
// npm run pages: both dashboards, guides and references in a browser, with all that can go wrong there.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';
import { findSecrets } from './secrets.mjs';
import { ensureSystemPrograms } from './system.mjs';
import { readOutcome, reportersInto } from './test-outcome.mjs';

ensureInstalled();
const missing = ensureSystemPrograms();

const bin = (name) => join(root, 'node_modules', '.bin', name);
const scratch = mkdtempSync(join(tmpdir(), 'npm-test-'));
/** So many files may have had bad luck on a busy machine; more of them are a fault. */
const TRIED_AGAIN_MAX = 3;
const totals = { passed: 0, failed: 0 };

function step(title, command, args) {
  console.log(`\n── ${title}`);
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` },
  });
  return status === 0;
}

/** Gives the status in the end. Shows what the tests print, and looks for secrets in it: their logs are made as those of real services are. */
async function scannedStep(title, command, args) {
  console.log(`\n── ${title}`);
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` },
  });
  const printed = [];
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ])
    from.on('data', (chunk) => {
      to.write(chunk);
      printed.push(chunk);
    });
  const status = await new Promise((done) => child.on('close', done));
  const secrets = findSecrets(Buffer.concat(printed).toString('utf8'));
  for (const { line, kind, begins } of secrets)
    console.error(`SECRET in the output of the tests, line ${line}: ${kind} (${begins}…)`);
  count(secrets.length === 0);
  return status;
}

function count(ok) {
  totals[ok ? 'passed' : 'failed'] += 1;
}

const isPages = process.argv[2] === '--pages';
const chosen = process.argv.slice(isPages ? 3 : 2);
const config = isPages ? ['--config', join(root, 'tests', 'browser', 'vitest.config.ts')] : [];
if (chosen.length === 0 && !isPages) {
  count(step('format and lint', bin('biome'), ['check', '--error-on-warnings', '.']));
  count(step('types', bin('tsc'), ['-p', '.']));
  count(step('types of the pages', bin('tsc'), ['-p', 'tsconfig.browser.json']));
  count(step('dead code', node, [join(root, 'node_modules', 'knip', 'bin', 'knip.js'), '--no-progress']));
}
count(step('dashboards, where their sources changed', node, [join(root, 'tools', 'dashboards.mjs')]));

/** Runs the tests, and says of each file how many passed and which failed; `broken` if the run itself did not end well. */
async function runTests(title, filters) {
  const folder = mkdtempSync(join(scratch, 'run-'));
  const vitest = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...config, ...filters];
  return readOutcome(await scannedStep(title, node, [...vitest, ...reportersInto(folder)]), folder);
}

const first = await runTests(isPages ? 'pages in a browser' : 'tests', chosen);
let broken = first.broken;
const luck = [];
if (chosen.length === 0 && first.failedFiles.length > 0 && first.failedFiles.length <= TRIED_AGAIN_MAX) {
  const again = await runTests('what failed, once more and alone', [...first.failedFiles, '--maxWorkers=1']);
  broken ||= again.broken;
  for (const [name, result] of again.files) {
    if (result.failed.length === 0)
      luck.push(...first.files.get(name).failed.map((test) => `${name}: ${test}`));
    first.files.set(name, result);
  }
}
if (broken) {
  console.error('\nBROKEN: the run itself did not end well; what was unhandled, or ended it, stands above.');
  totals.failed += 1;
}
for (const { passed, failed } of first.files.values()) {
  totals.passed += passed;
  totals.failed += failed.length;
}
rmSync(scratch, { recursive: true, force: true });

for (const name of missing) console.log(`\nNOT RUN, because it is not installed: ${name}`);
for (const [name, { skipped }] of first.files)
  if (skipped.length > 0)
    console.log(
      `\nNOT RUN, because something that it needs is not here: ${relative(root, name)}, ${skipped.length} of its tests: ${skipped[0]}`,
    );
for (const test of luck)
  console.log(`\nFAILED ONCE and passed alone, which is a defect of the test or of what it tests: ${test}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 ? 0 : 1);
