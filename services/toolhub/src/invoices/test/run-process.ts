// A process of its own for the tests: `run-process.ts <database url> <mail folder>` runs the invoices until it is killed
// or done. Its locks and leases are short, so that the tests need not wait for an hour.
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '@libs/db';
import { SCHEMA } from '../../schema.ts';
import { createRig, never, PERIOD } from './rig.ts';

const [url = '', folder = ''] = process.argv.slice(2);
const database = await openDatabase({ url, schema: SCHEMA, connectionsMax: 4 });
const short = { lockTtlMs: 1_000, mailLeaseMs: 1_000, batchMax: 10 };
const rig = await createRig(database, { folder, ...short });
process.stdout.write('ready\n');
for (let isDone = false; !isDone; ) {
  const outcome = await rig.invoices.run(PERIOD, { signal: never });
  isDone = outcome.kind === 'done' && outcome.failed === 0;
  if (!isDone) await wait(50);
}
await database.close();
