import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDashboard } from './dashboard.ts';

// The services that start at the same time come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const root = fileURLToPath(new URL('../../..', import.meta.url));
for (const product of process.argv.slice(2)) {
  const startedMs = performance.now();
  const built = await buildDashboard({
    root,
    folder: join(root, 'services', product, 'dashboard'),
    libraries: [join(root, 'libs', 'ui')],
    base: '/dashboard/',
  });
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  if (built) console.log(`Dashboard of ${product} built in ${seconds} s`);
}
