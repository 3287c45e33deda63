// npm run dashboards: builds the pages of the products whose sources changed since their last build.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, node, root } from './install.mjs';

const main = join(root, 'libs', 'ui', 'build', 'main.ts');

/** The products that have pages. */
export function withDashboard(products) {
  return products.filter((name) => existsSync(join(root, 'services', name, 'dashboard', 'index.html')));
}

/** Builds beside whatever else runs; the process ends with 0 when the builds are there. */
export function buildDashboards(products) {
  return spawn(node, ['--disable-warning=ExperimentalWarning', main, ...withDashboard(products)], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensureInstalled({ toRun: true });
  buildDashboards(['payments', 'toolhub']).once('exit', (code) => process.exit(code ?? 1));
}
