import type { SandboxClock } from '../../../clock/clock.ts';
import { type Mode, parseTenantId } from '../../../tenant.ts';

/**
 * Whose time an entry lives in and whose files it travels in: `live`, `test` (every test organisation without a clock),
 * the id of a test tenant whose clock stands, or that id with a mark where its clock was set free and runs on. An entry keeps the scope in which it began, also when a clock is set
 * while it is under way, or set free.
 */
export type AchScope = string;

export const LIVE_SCOPE = 'live';
export const SHARED_TEST_SCOPE = 'test';

export function scopeOf(tenantId: string, clock: SandboxClock): AchScope {
  if (parseTenantId(tenantId).mode === 'live') return LIVE_SCOPE;
  if (clock.state === 'real') return SHARED_TEST_SCOPE;
  return clock.state === 'running' ? freeScopeOf(tenantId) : tenantId;
}

export function modeOfScope(scope: AchScope): Mode {
  return scope === LIVE_SCOPE ? 'live' : 'test';
}

const FREE = '~free';

export function freeScopeOf(tenantId: string): AchScope {
  return `${tenantId}${FREE}`;
}

/** Whose clock a scope follows. */
export function tenantOfScope(scope: AchScope): string {
  return scope.endsWith(FREE) ? scope.slice(0, -FREE.length) : scope;
}

/** Without a clock that stands the sandbox does not wait for windows: the whole way takes a set time. */
export function isCompressed(scope: AchScope): boolean {
  return scope === SHARED_TEST_SCOPE || scope.endsWith(FREE);
}

/**
 * A clock may jump over days, and what lies between must happen in its order, as of its own time. Elsewhere time passes
 * by itself, and what is late is late.
 */
export function followsClock(scope: AchScope): boolean {
  return scope !== LIVE_SCOPE && scope !== SHARED_TEST_SCOPE;
}
