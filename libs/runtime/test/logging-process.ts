// Logs more than its output takes, and ends when it is told to.
import { createLogger } from '../src/index.ts';

const log = createLogger({ name: 'trial', level: 'info' });
for (let line = 1; line <= 100; line += 1) log.info({ line }, 'a line of the log');
process.on('SIGTERM', () => process.exit(0));
setInterval(() => {}, 1_000);
