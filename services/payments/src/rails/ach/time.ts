import type { Queryable } from '@libs/db';
import { clockNow, realClock, type SandboxClock } from '../../sandbox/clock.ts';
import { parseTenantId } from '../../tenant.ts';
import type { AchContext } from './context.ts';
import { type AchScope, followsClock } from './scope.ts';

/** What time it is in a scope, and by which clock. */
export async function timeOf(
  context: Pick<AchContext, 'findClocks' | 'now'>,
  db: Queryable,
  scope: AchScope,
): Promise<{ clock: SandboxClock; now: Date }> {
  if (!followsClock(scope)) return { clock: realClock, now: context.now() };
  const { organisationId } = parseTenantId(scope);
  const clock = (await context.findClocks(db, [organisationId])).get(organisationId) ?? realClock;
  return { clock, now: clockNow(clock, context.now()) };
}
