import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '@libs/db';
import { contend, readContention, type Spendable, type SpendableKind } from '../store.ts';

/*
 * One of several requests that bring the same code at once wins; the others are refused, and what the winner got stays
 * good. A request that comes when all that is over is a reuse, and revokes it. To tell the two apart, losers are
 * answered only when no other has come in for a moment: who arrives while one of them still waits cannot have seen
 * its answer, and is one of them; who arrives later can. The winner's answer is held for a moment, too: on a busy machine
 * it would else be ready before the second of the requests that were sent at once has come in.
 */
const HELD_MS = 150;
const QUIET_MS = 400;
const WAIT_MS_MAX = 3_000;
/** A process that died between the use of a code and its tokens leaves no time of exchange; this stands in for it. */
const EXCHANGE_MS_MAX = 10_000;

/** For the winner, before its exchange counts as over. */
export async function letOthersArrive(): Promise<void> {
  await sleep(HELD_MS);
}

/** Whether a request that arrived then is a reuse. */
export function isLateReuse(stored: Spendable, arrivedAt: Date): boolean {
  if (!stored.used) return false;
  const arrivedMs = arrivedAt.getTime();
  const exchangedMs = stored.exchangedAt?.getTime() ?? (stored.usedAt?.getTime() ?? 0) + EXCHANGE_MS_MAX;
  return arrivedMs > exchangedMs && arrivedMs > (stored.contendedUntil?.getTime() ?? 0);
}

/** Returns once the race that the caller lost is over. */
export async function waitOutRace(
  deps: { database: Queryable; now: () => Date },
  kind: SpendableKind,
  hash: Buffer,
): Promise<void> {
  const { database, now } = deps;
  const startedMs = now().getTime();
  let until = await contend(database, kind, hash, new Date(startedMs + QUIET_MS));
  while (until !== null && until.getTime() >= now().getTime() && now().getTime() - startedMs < WAIT_MS_MAX) {
    await sleep(until.getTime() - now().getTime() + 1);
    until = await readContention(database, kind, hash);
  }
}
