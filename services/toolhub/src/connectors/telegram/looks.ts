import type { Queryable } from '@libs/db';
import { enqueueJobs } from '@libs/jobs';
import { SCHEMA } from '../../schema.ts';

/** Has a bot looked after at once: it was just connected, or what Telegram was told of it is in doubt. */
export const BOT_CONNECTED_JOB = 'inbound.telegram_bot';

export async function lookAfterBots(
  tx: Queryable,
  customerIds: readonly string[],
  runAt?: Date,
): Promise<void> {
  const jobs = customerIds.map((customerId) => ({
    ...{ name: BOT_CONNECTED_JOB, payload: { customerId }, key: customerId },
    ...(runAt === undefined ? {} : { runAt }),
  }));
  await enqueueJobs(tx, SCHEMA, jobs);
}
