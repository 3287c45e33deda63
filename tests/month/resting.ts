import { setTimeout as sleep } from 'node:timers/promises';
import type { Harness } from '../contract/payments/harness.ts';

const POLL_MS = 20;
const REST_MS_MAX = 120_000;

export async function waitUntil(isTrue: () => Promise<boolean>, msMax: number): Promise<boolean> {
  const end = performance.now() + msMax;
  while (!(await isTrue())) {
    if (performance.now() > end) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Waits until no job is due or under way: then what the clock made due has happened. */
export async function comeToRest({ database, errors }: Harness): Promise<void> {
  const isResting = async () => {
    const { rows } = await database.query<{ busy: boolean }>(
      `select exists (select from jobs where failed_at is null and (attempts > 0 or ready_at <= clock_timestamp()))
         as busy`,
    );
    return rows[0]?.busy === false;
  };
  if (!(await waitUntil(isResting, REST_MS_MAX)))
    throw new Error(`the workers do not come to rest: ${errors.slice(0, 3).join('; ')}`);
}
