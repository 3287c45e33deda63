// Programs of the system that some tests and benchmarks use: installed when the package manager may be used, named when not.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const forTests = [
  mail('/usr/sbin/dovecot', 'dovecot-imapd'),
  mail('/usr/lib/dovecot/lmtp', 'dovecot-lmtpd'),
  mail('/usr/lib/dovecot/submission', 'dovecot-submissiond'),
  mail('/usr/sbin/smtpd', 'opensmtpd'),
  python('/usr/bin/python3', 'python3'),
  python('/usr/bin/pip3', 'python3-pip'),
  python('/usr/bin/mypy', 'mypy'),
  {
    path: '/usr/sbin/pgbouncer',
    name: 'pgbouncer',
    packages: ['pgbouncer'],
    used: 'the services behind a pooler',
  },
  {
    path: '/usr/bin/promtool',
    name: 'prometheus',
    packages: ['prometheus'],
    used: 'the alert rules, checked by promtool',
  },
  {
    path: '/usr/bin/pdftoppm',
    name: 'poppler-utils',
    packages: ['poppler-utils'],
    used: 'invoices as a picture',
  },
  {
    path: '/usr/bin/chromium-headless-shell',
    // The whole browser does as well where it is there already.
    otherwise: '/usr/bin/chromium',
    name: 'chromium-headless-shell',
    packages: ['chromium-headless-shell'],
    used: 'the pages in a browser',
  },
];

// Not pgbench, whose package brings a server that starts by itself: benchmarks use it where it is.
const forBenchmarks = [
  { path: '/usr/bin/wrk', name: 'wrk', packages: ['wrk'], used: 'the load of benchmarks' },
];

function mail(path, name) {
  return { path, name, packages: [name], used: 'e-mail tools against a real mail server' };
}

function python(path, name) {
  return { path, name, packages: [name], used: 'the Python client' };
}

function install(packages) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  spawnSync('apt-get', ['update', '-q'], options);
  spawnSync('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...packages], options);
}

/** @returns {string[]} what could not be had, and which tests go without it */
export function ensureSystemPrograms() {
  return ensure(forTests, 'the tests');
}

/** @returns {string[]} what could not be had, and what goes without it */
export function ensureBenchmarkPrograms() {
  return ensure(forBenchmarks, 'the benchmarks');
}

function isThere({ path, otherwise }) {
  return existsSync(path) || (otherwise !== undefined && existsSync(otherwise));
}

function ensure(programs, purpose) {
  const absent = programs.filter((program) => !isThere(program));
  if (absent.length > 0) {
    console.log(`Installing ${absent.map((program) => program.name).join(', ')} for ${purpose} …`);
    install(absent.flatMap((program) => program.packages));
  }
  return absent.filter((program) => !isThere(program)).map((program) => `${program.name} (${program.used})`);
}
