// A worker that kills itself before its n-th statement about ACH: node ach-worker.ts <database url> <n>
import { type Database, openDatabase, type Queryable } from '@libs/db';
import { createSealer } from '@libs/seal';
import { createPayments } from '../../services/payments/src/app.ts';
import { loadConfig } from '../../services/payments/src/config.ts';
import { SCHEMA } from '../../services/payments/src/migrations.ts';

const [url = '', statement = '1'] = process.argv.slice(2);
const ABOUT_ACH = /\bach_|sandbox_ach|ledger_|rail_quarantine|update payments/;
const IDLE_POLL_MS = 25;

let left = Number(statement);

function countDown(text: unknown): void {
  const sql = typeof text === 'string' ? text : String((text as { text?: string }).text);
  if (!ABOUT_ACH.test(sql)) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

/** The same database, whose statements are counted, in transactions too. */
function counted<Target extends Queryable>(target: Target): Target {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'query') countDown(args[0]);
        if (name === 'transaction' || name === 'session') {
          const [work, ...rest] = args as [(tx: Queryable) => unknown, ...unknown[]];
          return value.call(object, (tx: Queryable) => work(counted(tx)), ...rest);
        }
        return value.apply(object, args);
      };
    },
  });
}

async function isBusy(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ busy: boolean }>(
    `select exists (select from jobs where failed_at is null and ready_at <= clock_timestamp()) as busy`,
  );
  return rows[0]?.busy === true;
}

const database = await openDatabase({ url, schema: SCHEMA, connectionsMax: 6 });
const payments = await createPayments({
  config: loadConfig({ PAYMENTS_ROLE: 'worker', PAYMENTS_LOG_LEVEL: 'silent', PAYMENTS_ACH_REPRESENT: '2' }),
  database: counted(database),
  secrets: { sealer: createSealer({ keys: [Buffer.alloc(32, 7)] }), adminToken: 'admin_token_of_the_tests' },
  app: { defaultMetrics: false },
});
await payments.startJobs();
while (await isBusy(database)) await new Promise((done) => setTimeout(done, IDLE_POLL_MS));
await payments.stopJobs();
await payments.close();
await database.close();
