import { openDatabase } from '@libs/db';
import { startDatabase } from './environment.ts';
import { type Benchmark, median } from './result.ts';

const CONNECTIONS = 16;
const SECONDS = 1;

/** The limit that everything durable lives under: commits of one small row, one per transaction. */
export const benchmark: Benchmark = {
  name: 'database',
  async run() {
    const server = await startDatabase();
    const database = await openDatabase({ url: server.url, schema: 'public', connectionsMax: CONNECTIONS });
    try {
      await database.query(
        'create table commits (id bigint generated always as identity primary key, note text)',
      );
      const statement = { name: 'commit', text: 'insert into commits (note) values ($1)' };
      const rates: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        const end = performance.now() + SECONDS * 1_000;
        let count = 0;
        const worker = async () => {
          while (performance.now() < end) {
            await database.query(statement, ['x']);
            count += 1;
          }
        };
        await Promise.all(Array.from({ length: CONNECTIONS }, worker));
        rates.push(count / SECONDS);
      }
      const what = `durable commits of one row, ${CONNECTIONS} connections`;
      return [{ id: 'D0', what, ours: median(rates), other: null, unit: '/s', bar: null }];
    } finally {
      await database.close();
      await server.stop();
    }
  },
};
