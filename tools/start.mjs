// npm start: both products. `npm run payments` and `npm run toolhub`: one of them. With `-- spread`, the tables of an empty
// installation are placed on the servers of a Citus cluster instead.
import { spawn, spawnSync } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { buildDashboards } from './dashboards.mjs';
import { ensureInstalled, fail, node, root } from './install.mjs';
import { memoryFlags, memorySettings } from './memory.mjs';

const products = ['payments', 'toolhub'];
const scripts = ['start', ...products];
const PARENT_POLL_MS = 250;
const spreads = process.argv.at(-1) === 'spread';
const chosen = process.argv.slice(2, spreads ? -1 : undefined);
const unknown = chosen.filter((name) => !products.includes(name));
if (unknown.some((word) => word === '--help' || word === '-h')) {
  console.log(usage());
  process.exit(0);
}
if (unknown.length > 0) fail(`There is no ${unknown.map((word) => `“${word}”`).join(', ')}.\n${usage()}`);

/** What can be typed, as the reader began to type it. */
function usage() {
  const script = process.env.npm_lifecycle_event;
  if (script === undefined || !scripts.includes(script))
    return `Usage: node tools/start.mjs [${products.join(' | ')}] [spread]`;
  const command = script === 'start' ? 'npm start' : `npm run ${script}`;
  const what = script === 'start' ? 'both products' : 'this product alone';
  const one = products.map((name) => `  npm run ${name}  one product alone`);
  return [
    'Usage:',
    `  ${command}  ${what}`,
    ...(script === 'start' ? one : []),
    `  ${command} -- spread  places the tables of an empty installation on a Citus cluster`,
  ].join('\n');
}

ensureInstalled({ toRun: true });

const names = chosen.length > 0 ? chosen : products;
if (spreads) {
  for (const name of names) {
    const main = join(root, 'services', name, 'src', 'spreading', 'main.ts');
    const { status } = spawnSync(node, ['--disable-warning=ExperimentalWarning', main], { stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
  process.exit(0);
}
const children = new Map();
let exitCode = 0;

/** The child drains on the signal; it also drains by itself when this process is killed and the channel closes. */
function stopAll(signal) {
  for (const child of children.values()) child.kill(signal);
}

for (const name of names) {
  const main = join(root, 'services', name, 'src', 'main.ts');
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', ...memoryFlags(name), main], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // What Node compiled stays for the next start, which is a third quicker by it.
    env: {
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
      ...memorySettings,
      ...process.env,
    },
    // In a process group of its own, so that Ctrl-C arrives once, from here.
    detached: true,
  });
  children.set(name, child);
  child.once('exit', (code, signal) => {
    children.delete(name);
    if (code !== 0 && exitCode === 0) exitCode = code ?? (signal ? 1 : 0);
    // One product without the other is not what was asked for.
    if (children.size > 0) stopAll('SIGTERM');
    else process.exit(exitCode);
  });
}

// Beside the services, which answer meanwhile; a page that is asked for too early says so and comes by itself.
const builder = buildDashboards(names);
// After the services where cores are few: on two of them the first answer came a tenth later.
if (builder.pid !== undefined) setPriority(builder.pid, constants.priority.PRIORITY_BELOW_NORMAL);
// It writes into this folder: whoever removes the folder after a stop must not meet it.
process.once('exit', () => builder.kill('SIGKILL'));
builder.once('exit', (code) => {
  if (code !== 0)
    console.error('The dashboards were not built: see the message above. The API is not concerned.');
});

// npm runs this through a shell, and a signal to npm ends that shell without reaching us: its end is our signal.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) stopAll('SIGTERM');
}, PARENT_POLL_MS).unref();

process.on('SIGTERM', () => stopAll('SIGTERM'));
process.on('SIGINT', () => stopAll('SIGTERM'));
process.on('SIGHUP', () => stopAll('SIGTERM'));
