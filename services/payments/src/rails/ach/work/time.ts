import type { Queryable } from '@libs/db';
import { realClock, type SandboxClock } from '../../../clock/clock.ts';
import type { AchEntry } from '../entries/entry.ts';
import { type AchScope, followsClock, tenantOfScope } from '../entries/scope.ts';
import { findFiles } from '../outgoing/files-store.ts';
import type { AchContext } from './context.ts';

/** What time it is in a scope, and by which clock. */
export async function timeOf(
  context: Pick<AchContext, 'clocks' | 'now'>,
  db: Queryable,
  scope: AchScope,
): Promise<{ clock: SandboxClock; now: Date }> {
  if (!followsClock(scope)) return { clock: realClock, now: context.now() };
  const tenantId = tenantOfScope(scope);
  const times = await context.clocks.timesOf(db, [tenantId]);
  return { clock: times.clockOf(tenantId), now: times.at(tenantId) };
}

/** A clock may be stopped while a step is under way that was ahead of it: what is later than it shows then waits. */
export async function notAhead(
  context: Pick<AchContext, 'clocks' | 'now'>,
  tx: Queryable,
  { scope, asOf }: { scope: AchScope; asOf: Date },
): Promise<Date> {
  if (!followsClock(scope)) return asOf;
  const { clock, now } = await timeOf(context, tx, scope);
  return clock.state === 'frozen' && asOf > now ? now : asOf;
}

/**
 * When something is said now of an entry: never before its file came, which may be later than the clock shows. A clock that was set
 * free is hurried ahead of, and files of real time leave also for who has stopped a clock since.
 */
export async function answerTimeOf(
  context: Pick<AchContext, 'clocks' | 'now'>,
  db: Queryable,
  { scope, sentAs }: Pick<AchEntry, 'scope' | 'sentAs'>,
): Promise<Date> {
  const { now } = await timeOf(context, db, scope);
  const [file] = sentAs ? await findFiles(db, [sentAs.fileId]) : [];
  return file && file.asOf > now ? file.asOf : now;
}
