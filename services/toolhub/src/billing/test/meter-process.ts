// A process of its own for the tests: `meter-process.ts <mode> <database url> <customer> <calls> <now>`.
import { randomBytes } from 'node:crypto';
import { openDatabase } from '@libs/db';
import { createIdFactory } from '@libs/seal';
import { createEmitEvent } from '../../events/service.ts';
import { reckonMonth } from '../../invoices/reckoning.ts';
import { SCHEMA } from '../../schema.ts';
import { createBillingService } from '../service.ts';

const [mode = '', url = '', customerId = '', count = '0', at = ''] = process.argv.slice(2);
const now = () => new Date(at);
const newId = createIdFactory({ now, randomBytes });
const database = await openDatabase({ url, schema: SCHEMA, connectionsMax: 4 });
const billing = createBillingService({
  ...{ database, newId, now, emitEvent: createEmitEvent({ newId, now }), reckonMonth, leaseMs: 1_500 },
  onError: (error) => {
    throw error;
  },
});

const checks = await Promise.all(
  Array.from({ length: Number(count) }, () => billing.meter.checkLimit(customerId)),
);
const reserved = checks.filter((check) => check.kind === 'reserved');
if (mode === 'hang') {
  process.stdout.write(`${reserved.length}\n`);
  // The lease is renewed by a timer that does not keep the process alive by itself.
  setInterval(() => {}, 1_000);
} else {
  await Promise.all(
    reserved.map(({ reservation }) =>
      billing.meter.settle({
        ...{ customerId, reservation, platform: 'alpha', tool: 'alpha_send_note' },
        ...{ succeeded: true, unit: 'kept' as const, durationMs: 1 },
      }),
    ),
  );
  await billing.close();
  await database.close();
  process.stdout.write(`${reserved.length}\n`);
}
