import { Counter, Gauge, type Logger, type Metrics } from '@libs/runtime';
import type { Database } from '../database.ts';
import type { SecondConnection } from './one-connection.ts';

/** For production, where a second connection inside a transaction is a bug to be told of and not a reason to stop. */
export function reportSecondConnections(parts: {
  metrics: Metrics;
  log: Pick<Logger, 'error'>;
}): (error: SecondConnection) => void {
  const counter = new Counter({
    name: 'db_second_connections_total',
    help: 'Times that code inside a transaction took a second connection of the pool.',
    registers: [parts.metrics],
  });
  return (error) => {
    counter.inc();
    parts.log.error({ err: error }, 'a transaction took a second connection');
  };
}

/** How full the pools of this process are, at the moment that somebody asks. */
export function observePools(
  metrics: Metrics,
  pools: Readonly<Record<string, Pick<Database, 'usage'>>>,
): void {
  new Gauge({
    name: 'db_pool_connections',
    help: 'Connections of this process to the database, by pool and whether they are busy.',
    labelNames: ['pool', 'state'],
    registers: [metrics],
    collect() {
      for (const [pool, database] of Object.entries(pools)) {
        const { busy, idle } = database.usage();
        this.set({ pool, state: 'busy' }, busy);
        this.set({ pool, state: 'idle' }, idle);
      }
    },
  });
  new Gauge({
    name: 'db_pool_waiting',
    help: 'Callers in this process that wait for a connection to the database, by pool.',
    labelNames: ['pool'],
    registers: [metrics],
    collect() {
      for (const [pool, database] of Object.entries(pools)) this.set({ pool }, database.usage().waiting);
    },
  });
}
