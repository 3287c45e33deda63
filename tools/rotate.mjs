// npm run rotate [payments | toolhub]: seals everything with the newest key, and says when the older ones may go.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, node, root } from './install.mjs';

const services = ['payments', 'toolhub'];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !services.includes(name));
if (unknown.some((word) => word === '--help' || word === '-h')) {
  console.log(`Usage: npm run rotate [${services.join(' | ')}], with the settings of the service`);
  process.exit(0);
}
if (unknown.length > 0) {
  console.error(`rotate: ${unknown.join(', ')} is no service: ${services.join(', ')}`);
  process.exit(2);
}
ensureInstalled({ toRun: true });
let failed = false;
for (const service of wanted.length > 0 ? wanted : services) {
  const main = join(root, 'services', service, 'src', 'rotation', 'main.ts');
  const { status } = spawnSync(node, [main], { cwd: root, stdio: 'inherit' });
  if (status !== 0) failed = true;
}
process.exit(failed ? 1 : 0);
