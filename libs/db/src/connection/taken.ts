import type pg from 'pg';
import { isDatabaseAway } from './away.ts';

/**
 * Takes a connection for as long as the work runs, and gives it back. Not one that broke meanwhile, nor one whose server failed
 * the work: where the roles of two servers were changed, it leads to the one that takes no writes now for as long as it lives,
 * and the next one may lead to the other.
 */
export async function withConnection<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  isSpoiltBy: (error: unknown) => boolean = isDatabaseAway,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | boolean = false;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    return await work(client);
  } catch (error) {
    broken ||= isSpoiltBy(error);
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}
