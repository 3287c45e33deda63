// What operators are given beside the code: rules, dashboard, units and images that fit what the services really are.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DRAIN_PATIENCE_MS } from '@libs/jobs';
import { expect, test } from 'vitest';
import { CALL_LONGEST_MS } from '../../services/toolhub/src/calls/call-times.ts';
import { memoryFlags, memorySettings } from '../../tools/memory.mjs';
import { alertsByGroup } from './rules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const PROMTOOL = '/usr/bin/promtool';
const SYSTEMD_ANALYZE = '/usr/bin/systemd-analyze';

test('every alert has its section in the runbook of each product that it concerns, and no section is without its alert', () => {
  const { processes = [], work = [], payments = [], toolhub = [] } = alertsByGroup();
  const sectionsOf = (product: string) =>
    [...read(`services/${product}/docs/runbook.md`).matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(processes.length).toBeGreaterThan(0);
  expect(sectionsOf('payments').toSorted()).toEqual([...processes, ...work, ...payments].toSorted());
  expect(sectionsOf('toolhub').toSorted()).toEqual([...processes, ...work, ...toolhub].toSorted());
});

test.runIf(existsSync(PROMTOOL))('promtool takes the rules, and its examples come true', () => {
  for (const args of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts-test.yml'],
  ]) {
    const { status, stderr, stdout } = spawnSync(PROMTOOL, args, {
      cwd: join(root, 'deploy', 'prometheus'),
      encoding: 'utf8',
    });
    expect(status, stdout + stderr).toBe(0);
  }
});

test('the dashboard times the same requests as the alert: answers that stay open for minutes say nothing of slowness', () => {
  const timed = /http_request_duration_seconds_bucket(?:\{[^}]*\})?/g;
  const [ofAlert] = read('deploy/prometheus/alerts.yml').match(timed) ?? [];
  const { panels } = JSON.parse(read('deploy/grafana/dashboard.json')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const ofPanels = panels.flatMap(({ targets = [] }) =>
    targets.flatMap(({ expr }) => expr.match(timed) ?? []),
  );
  expect(ofAlert).toContain('route!~');
  expect(ofPanels).toEqual([ofAlert]);
});

test.runIf(existsSync(SYSTEMD_ANALYZE))('systemd takes the units', () => {
  const folder = mkdtempSync(join(tmpdir(), 'units-'));
  const units = readdirSync(join(root, 'deploy', 'systemd')).map((name) => {
    const path = join(folder, name);
    // Verifying looks whether the program is there, which it is here and not in the place where it is installed.
    writeFileSync(path, read(`deploy/systemd/${name}`).replaceAll('/opt/payments-and-toolhub', root));
    return path;
  });
  const { status, stderr } = spawnSync(SYSTEMD_ANALYZE, ['verify', ...units], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(units).toHaveLength(3);
  expect(status, stderr).toBe(0);
  expect(stderr).toBe('');
});

test('units let a service ask which addresses the machine has, as a start that listens on all of them does', () => {
  for (const name of readdirSync(join(root, 'deploy', 'systemd'))) {
    const families = /^RestrictAddressFamilies=(.*)$/m.exec(read(`deploy/systemd/${name}`))?.[1]?.split(' ');
    // Fastify lists the interfaces where its host is 0.0.0.0, and the kernel is asked for them by netlink.
    expect(families, name).toEqual(expect.arrayContaining(['AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_UNIX']));
  }
});

test('the console of the pooler is where psql looks for it, as the guides say it', () => {
  for (const guide of ['services/payments/docs/running.md', 'services/toolhub/docs/operating.md'])
    expect(read(guide)).toContain('`psql -p 6432 -U pgbouncer pgbouncer`');
  const settings = read('deploy/pgbouncer.ini');
  expect(settings).toContain('\nlisten_port = 6432\n');
  // PgBouncer's own default is /tmp, and psql of Debian and of its relatives looks here.
  expect(settings).toContain('\nunix_socket_dir = /var/run/postgresql\n');
});

test('units and the compose file give Toolhub the time that its longest call takes when it is stopped', () => {
  const compose = read('deploy/compose.yaml');
  const toolhub = compose.slice(compose.indexOf('\n  toolhub:'), compose.indexOf('\n  prometheus:'));
  const unit = read('deploy/systemd/toolhub.service');
  const guide = read('services/toolhub/docs/operating.md');
  const seconds = [
    /stop_grace_period: (\d+)s/.exec(toolhub),
    /TimeoutStopSec=(\d+)/.exec(unit),
    /ended by SIGTERM with (\d+) seconds/.exec(guide),
    /Toolhub (\d+)/.exec(read('deploy/Dockerfile')),
  ].map((found) => Number(found?.[1]));
  expect(new Set(seconds).size).toBe(1);
  // Leaving takes three seconds before it, recording and closing some after it.
  expect(seconds[0]).toBeGreaterThanOrEqual(CALL_LONGEST_MS / 1_000 + 15);
});

test('units and the compose file give Payments the time that its jobs take when it is stopped', () => {
  const seconds = [
    /stop_grace_period: (\d+)s/.exec(read('deploy/compose.yaml')),
    /TimeoutStopSec=(\d+)/.exec(read('deploy/systemd/payments-api.service')),
    /TimeoutStopSec=(\d+)/.exec(read('deploy/systemd/payments-worker.service')),
    /ended by SIGTERM and have (\d+) seconds/.exec(read('services/payments/docs/production.md')),
    /Payments (\d+)/.exec(read('deploy/Dockerfile')),
  ].map((found) => Number(found?.[1]));
  expect(new Set(seconds).size).toBe(1);
  // Leaving takes three seconds before it; those that are told to end, and closing, take some after it.
  expect(seconds[0]).toBeGreaterThanOrEqual(DRAIN_PATIENCE_MS / 1_000 + 13);
});

test('images, units and the compose file name programs that are there and settings that are read', () => {
  const files = [
    'deploy/Dockerfile',
    'deploy/compose.yaml',
    ...readdirSync(join(root, 'deploy', 'systemd')).map((name) => `deploy/systemd/${name}`),
  ];
  const text = files.map(read).join('\n');
  const programs = [...text.matchAll(/services\/\w+\/src\/main\.ts/g)].map(([path]) => path);
  expect(new Set(programs)).toEqual(
    new Set(['services/payments/src/main.ts', 'services/toolhub/src/main.ts']),
  );
  for (const program of programs) expect(existsSync(join(root, program)), program).toBe(true);
  // Passwords of the database's roles are put together to an address in the compose file.
  const named = [...text.matchAll(/\b(?:PAYMENTS|TOOLHUB)_[A-Z_]+\b/g)]
    .map(([name]) => name)
    .filter((name) => !name.endsWith('_DATABASE_PASSWORD'));
  const known = read('services/payments/src/config.ts') + read('services/toolhub/src/config.ts');
  expect([...new Set(named)].filter((name) => !known.includes(`'${name}'`))).toEqual([]);
});

test('Postgres of the compose file archives as the guides on backups say, into a folder that is its own', () => {
  const compose = read('deploy/compose.yaml');
  for (const guide of ['services/payments/docs/backups.md', 'services/toolhub/docs/operating.md']) {
    const settings = [...read(guide).matchAll(/^\| `(archive_\w+)` +\| `([^`]+)`/gm)];
    expect(settings.map(([, name]) => name)).toEqual(['archive_mode', 'archive_timeout', 'archive_command']);
    for (const [, name, value] of settings)
      expect(compose).toMatch(new RegExp(`-c "?${name}=${escaped(value)}"?\\s`));
  }
  // Scripts of the first start run as `postgres`, who may give nothing away and take nothing.
  expect(read('deploy/postgres/databases.sh')).not.toMatch(/\bchown\b/);
  expect(compose).toMatch(/archive-owner:\n.*\n +entrypoint: \[chown, postgres, \/archive\]/);
  expect(compose).toContain('archive-owner: { condition: service_completed_successfully }');
});

const escaped = (text = '') => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

test('what the compose file takes from the environment is told, and secrets beside it stay out of the image', () => {
  const guide = read('deploy/README.md');
  const names = [...read('deploy/compose.yaml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name as string);
  expect(names.length).toBeGreaterThan(10);
  const untold = names.filter(
    (name) =>
      !guide.includes(`\`${name}\``) && !guide.includes(`\`${name.replace(/^(PAYMENTS|TOOLHUB)_/, '…_')}\``),
  );
  expect(untold).toEqual([]);
  const secret = (text: string) => text.split('\n').filter((line) => line.startsWith('deploy/'));
  expect(secret(read('.gitignore')).length).toBeGreaterThan(0);
  expect(secret(read('.dockerignore'))).toEqual(secret(read('.gitignore')));
});

test('files that settings of Payments name have a place in its containers, and are told', () => {
  const config = read('services/payments/src/config.ts');
  const ofFiles = [
    ...config.matchAll(/settings\.(?:pathOfFile|jsonFile|certificates|privateKey)\(\s*'(\w+)'/g),
  ];
  expect(ofFiles.length).toBeGreaterThan(3);
  const [compose, guide] = [read('deploy/compose.yaml'), read('deploy/README.md')];
  for (const [, name] of ofFiles) {
    expect(compose).toContain(`  ${name}: \${${name}:-}\n`);
    // Once for containers, and once for units, whose service cannot enter the folder of the settings.
    expect(guide.split(`\`${name}\``).length - 1, name).toBeGreaterThanOrEqual(2);
  }
  for (const role of ['api', 'worker'])
    expect(compose).toMatch(
      new RegExp(`PAYMENTS_ROLE: ${role}\\b.*\\n +volumes: \\["./bank:/run/bank:ro"\\]`),
    );
});

test('images, units and the compose file give a service the memory that it has when it is started here', () => {
  const [payments, toolhub] = (['payments', 'toolhub'] as const).map((product) =>
    memoryFlags(product).join(' '),
  );
  const settings = Object.entries(memorySettings).map(([name, value]) => `${name}=${value}`);
  const unit = (name: string) => read(`deploy/systemd/${name}.service`);
  for (const [text, flags] of [
    [unit('payments-api'), payments],
    [unit('payments-worker'), payments],
    [unit('toolhub'), toolhub],
    [read('deploy/Dockerfile'), toolhub],
  ] as const)
    expect(text).toContain([`NODE_OPTIONS=${flags}`, ...settings].join(' '));
  expect(read('deploy/compose.yaml')).toMatch(
    new RegExp(`^x-payments: &payments\\n(?:  .*\\n)*  NODE_OPTIONS: ${payments}\\n`, 'm'),
  );
});
