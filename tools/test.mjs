// npm test: everything that proves the repository, on a machine with nothing but Node and npm.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';
import { findSecrets } from './secrets.mjs';
import { ensureSystemPrograms } from './system.mjs';

ensureInstalled();
const missing = ensureSystemPrograms();

const bin = (name) => join(root, 'node_modules', '.bin', name);
const scratch = mkdtempSync(join(tmpdir(), 'npm-test-'));
const report = join(scratch, 'vitest.json');
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

/** Shows what the tests print, and looks for secrets in it: their logs are made as those of real services are. */
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
  return status === 0;
}

function count(ok) {
  totals[ok ? 'passed' : 'failed'] += 1;
}

const arguments_ = process.argv.slice(2);
if (arguments_.length === 0) {
  count(step('format and lint', bin('biome'), ['check', '--error-on-warnings', '.']));
  count(step('types', bin('tsc'), ['-p', '.']));
  count(step('types of the pages', bin('tsc'), ['-p', 'tsconfig.browser.json']));
  count(step('dead code', node, [join(root, 'node_modules', 'knip', 'bin', 'knip.js'), '--no-progress']));
}
count(step('dashboards, where their sources changed', node, [join(root, 'tools', 'dashboards.mjs')]));
const vitest = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...arguments_];
const ran = await scannedStep('tests', node, [
  ...vitest,
  '--reporter=dot',
  '--reporter=json',
  `--outputFile.json=${report}`,
]);
if (existsSync(report)) {
  const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(readFileSync(report, 'utf8'));
  totals.passed += numPassedTests;
  totals.failed += numFailedTests;
  // A file that broke before its first test fails no test, and yet the run failed.
  if (!ran && numFailedTests === 0) totals.failed += Math.max(1, numFailedTestSuites);
} else {
  totals.failed += 1;
}
rmSync(scratch, { recursive: true, force: true });

for (const name of missing) console.log(`\nNOT RUN, because it is not installed: ${name}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 ? 0 : 1);
