// How a run of the tests ended, from what Vitest reported of it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

export function reportersInto(folder) {
  const unhandled = join(root, 'tools', 'unhandled-errors.mjs');
  const names = ['dot', 'json', unhandled].map((name) => `--reporter=${name}`);
  return [...names, `--outputFile.json=${join(folder, 'tests.json')}`];
}

function readReport(folder, name) {
  const path = join(folder, name);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

export function readOutcome(status, folder) {
  const files = new Map();
  const report = readReport(folder, 'tests.json');
  for (const { name, status: ofFile, assertionResults } of report?.testResults ?? []) {
    const namesOf = (status) =>
      assertionResults.filter((one) => one.status === status).map((one) => one.fullName);
    const failed = namesOf('failed');
    // A file that broke before its first test fails no test, and yet it failed.
    if (ofFile === 'failed' && failed.length === 0) failed.push('before its first test');
    files.set(name, { passed: namesOf('passed').length, failed, skipped: namesOf('skipped') });
  }
  const failedFiles = [...files].filter(([, { failed }]) => failed.length > 0).map(([name]) => name);
  // A test that fails ends the run with 1 and explains that, unless something else broke beside it.
  const explained = status === (failedFiles.length === 0 ? 0 : 1);
  const whole = report !== undefined && readReport(folder, 'unhandled.json') === 0;
  return { files, failedFiles, broken: !(explained && whole) };
}
