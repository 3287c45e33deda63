import { randomBytes } from 'node:crypto';
import { type Database, migrate, openDatabase } from '@libs/db';
import { createIdFactory } from '@libs/seal';
import { createBillingService } from '../../services/toolhub/src/billing/service.ts';
import { createEmitEvent } from '../../services/toolhub/src/events/service.ts';
import { reckonMonth } from '../../services/toolhub/src/invoices/reckoning.ts';
import { migrationSource, SCHEMA } from '../../services/toolhub/src/schema.ts';
import { startDatabase } from '../environment.ts';
import { type Benchmark, median } from '../result.ts';

const CALLERS = 64;
const CONNECTIONS = 16;
const ROUNDS = 3;
const ROUND_MS = 1_000;
const WARMUP_MS = 500;

async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now() + WARMUP_MS;
  const end = begin + ROUND_MS;
  let count = 0;
  const caller = async () => {
    while (performance.now() < end) {
      await work();
      if (performance.now() >= begin) count += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return (count / ROUND_MS) * 1_000;
}

function meterOn(database: Database) {
  const now = () => new Date();
  const newId = createIdFactory({ now, randomBytes });
  return createBillingService({
    ...{ database, newId, now, emitEvent: createEmitEvent({ newId, now }), reckonMonth },
    onError: (error) => {
      throw error;
    },
  });
}

const COUNT_ONE = {
  name: 'bench.count',
  text: 'update bench_counter set used = used + 1 where customer_id = $1 and used < 1000000000',
};

/** T3: the gate on one customer that everybody wants, against the plain statement that would do for one process. */
export const benchmark: Benchmark = {
  name: 'toolhub limit',
  async run() {
    const server = await startDatabase();
    await migrate(server.url, migrationSource);
    const open = () => openDatabase({ url: server.url, schema: SCHEMA, connectionsMax: CONNECTIONS });
    const [ours, plain] = [await open(), await open()];
    const billing = meterOn(ours);
    try {
      await ours.query(
        `insert into customers (id, email, name, password_hash, plan, created_at) values ('cus_1', 'x', 'x', 'x', 'scale', now())`,
      );
      await plain.query('create table bench_counter (customer_id text primary key, used bigint not null)');
      await plain.query(`insert into bench_counter values ('cus_1', 0)`);
      const rates: { ours: number[]; plain: number[] } = { ours: [], plain: [] };
      for (let round = 0; round < ROUNDS; round += 1) {
        rates.ours.push(await perSecond(() => billing.meter.checkLimit('cus_1')));
        rates.plain.push(await perSecond(() => plain.query(COUNT_ONE, ['cus_1'])));
      }
      return [
        {
          ...{ id: 'T3', what: `checkLimit on one customer, against ${CONNECTIONS} connections`, unit: '/s' },
          ...{ ours: median(rates.ours), other: median(rates.plain), bar: { kind: 'at least', value: 10 } },
        },
      ];
    } finally {
      await billing.close();
      await ours.close();
      await plain.close();
      await server.stop();
    }
  },
};
