import type { SandboxClock } from '../../../clock/clock.ts';
import { type Mode, parseTenantId } from '../../../tenant.ts';

/**
 * Whose time an entry lives in and whose files it travels in: `live`, `test` (every test organisation without a clock)
 * or the id of a test tenant that has a clock. An entry keeps the scope in which it began, also when a clock is set
 * while it is under way.
 */
export type AchScope = string;

export const LIVE_SCOPE = 'live';
export const SHARED_TEST_SCOPE = 'test';

export function scopeOf(tenantId: string, clock: SandboxClock): AchScope {
  if (parseTenantId(tenantId).mode === 'live') return LIVE_SCOPE;
  return clock.state === 'real' ? SHARED_TEST_SCOPE : tenantId;
}

export function modeOfScope(scope: AchScope): Mode {
  return scope === LIVE_SCOPE ? 'live' : 'test';
}

/** Without a clock the sandbox does not wait for windows: the whole way takes a set time. */
export function isCompressed(scope: AchScope): boolean {
  return scope === SHARED_TEST_SCOPE;
}

/**
 * A clock may jump over days, and what lies between must happen in its order, as of its own time. Elsewhere time passes
 * by itself, and what is late is late.
 */
export function followsClock(scope: AchScope): boolean {
  return scope !== LIVE_SCOPE && scope !== SHARED_TEST_SCOPE;
}
