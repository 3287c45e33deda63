import { startTestServer } from '@libs/db/testing';

/** Vitest calls this once per run: every test file clones its database on the server that this provides. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.TEST_POSTGRES_URL ?? process.env.DATABASE_URL;
  if (given) {
    process.env.TEST_POSTGRES_URL = given;
    return undefined;
  }
  const server = await startTestServer();
  process.env.TEST_POSTGRES_URL = server.url;
  return () => server.stop();
}
