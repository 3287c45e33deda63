import { Pool } from './undici.ts';

/** Bare POSTs of undici, as fast as it sends them over as many connections as deliveries may use. */
export interface Posts {
  origin: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  count: number;
  connections: number;
}

async function run({ origin, path, headers, body, count, connections }: Posts): Promise<number> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const response = await pool.request({ path, method: 'POST', headers, body });
      await response.body.dump();
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, worker));
  const perSecond = (count / (performance.now() - startedAt)) * 1_000;
  await pool.close();
  return perSecond;
}

process.on('message', async (posts: Posts) => {
  process.send?.(await run(posts));
});
process.on('disconnect', () => process.exit(0));
