// npm run vendors: a server for each vendor and a Toolhub that is connected to all of them, to try every tool by hand.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';

ensureInstalled();
const program = join(root, 'tests', 'vendors', 'main.ts');
const child = spawn(node, ['--disable-warning=ExperimentalWarning', program], { stdio: 'inherit' });
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill('SIGTERM'));
child.once('exit', (code) => process.exit(code ?? 1));
