// Workers as they run beside the service, many in one process, until it is killed: node ach-worker.ts <database url> <workers>
import { openDatabase } from '@libs/db';
import { startWorker } from '@libs/jobs';
import { createSealer } from '@libs/seal';
import { createPayments } from '../../services/payments/src/app.ts';
import { loadConfig } from '../../services/payments/src/config.ts';
import { SCHEMA } from '../../services/payments/src/migrations.ts';

const CONNECTIONS_PER_WORKER = 4;

const [url = '', workers = '1'] = process.argv.slice(2);
const connectionsMax = Number(workers) * CONNECTIONS_PER_WORKER;
const database = await openDatabase({ url, schema: SCHEMA, connectionsMax });
const service = await createPayments({
  config: loadConfig({ PAYMENTS_ROLE: 'worker', PAYMENTS_LOG_LEVEL: 'silent', PAYMENTS_ACH_REPRESENT: '2' }),
  database,
  secrets: { sealer: createSealer({ keys: [Buffer.alloc(32, 7)] }), adminToken: 'admin_token_of_the_tests' },
  app: { defaultMetrics: false },
});
const { handlers } = service.parts.payments;
for (let number = 0; number < Number(workers); number += 1)
  await startWorker({ database, handlers, now: () => new Date(), onError: (error) => console.error(error) });
