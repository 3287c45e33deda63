// npm run audit: known holes in what we depend on, as the registry knows them. A registry that does not answer (a mirror, no network) is
// told and fails nothing; a serious hole in what runs in production does.
import { spawnSync } from 'node:child_process';
import { root } from './install.mjs';

const TIMEOUT_MS = 120_000;
const SERIOUS = ['high', 'critical'];

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  cwd: root,
  encoding: 'utf8',
  timeout: TIMEOUT_MS,
  stdio: ['ignore', 'pipe', 'ignore'],
});

function readReport(text) {
  try {
    const report = JSON.parse(text);
    return report.vulnerabilities === undefined ? undefined : report;
  } catch {
    return undefined;
  }
}

const report = readReport(stdout ?? '');
if (report === undefined) {
  console.log('audit: NOT RUN, because the registry does not answer audits');
} else {
  const serious = Object.values(report.vulnerabilities).filter(({ severity }) => SERIOUS.includes(severity));
  for (const { name, severity, range } of serious) console.error(`audit: ${name} ${range}: ${severity}`);
  const all = Object.values(report.vulnerabilities).length;
  console.log(`audit: ${all} known holes, ${serious.length} of them serious`);
  if (serious.length > 0) process.exitCode = 1;
}
