import { Counter, type Logger, type Metrics } from '@libs/runtime';
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
