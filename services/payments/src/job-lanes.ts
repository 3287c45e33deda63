import type { Mode } from './tenant.ts';

/**
 * Live work waits under a name of its own, so that a worker takes it beside test work and never behind it. The plain name
 * is test mode's; in a database of an earlier version it also holds what was live then, which is still done.
 */
export function jobNameFor(name: string, mode: Mode): string {
  return mode === 'live' ? `${name}.live` : name;
}

/** For the handler of a job that both modes have. */
export function lanesOf(name: string): { name: string; lanes: readonly string[] } {
  return { name, lanes: [jobNameFor(name, 'live')] };
}
