import { startPooler, startTestServer } from '@libs/db/testing';

/** Vitest calls this once per run: every test file clones its database on the server that this provides. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const closers: (() => Promise<void>)[] = [];
  let url = process.env.TEST_POSTGRES_URL ?? process.env.DATABASE_URL;
  if (!url) {
    const server = await startTestServer({ inMemory: true });
    url = server.url;
    closers.unshift(() => server.stop());
  }
  process.env.TEST_POSTGRES_URL = url;
  // Set by `npm run pooled`: the services of the tests reach their databases through PgBouncer.
  if (process.env.TEST_THROUGH === 'pgbouncer') {
    const pooler = await startPooler(url);
    process.env.TEST_POOLER_URL = pooler.url;
    closers.unshift(() => pooler.stop());
  }
  return async () => {
    for (const close of closers) await close();
  };
}
