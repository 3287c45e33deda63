import type { Queryable } from '@libs/db';
import { realClock, type SandboxClock } from '../../../clock/clock.ts';
import { type AchScope, followsClock, tenantOfScope } from '../entries/scope.ts';
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
