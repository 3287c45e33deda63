import type { UsageGroup } from '../plan.ts';
import { classDurationMs, DURATION_CLASS_MAX } from './durations.ts';

/** Calls by class of duration. */
export type ClassCalls = Float64Array;

/** From rows that name some of the classes only. */
export function classCallsOf(classes: readonly number[], calls: readonly number[]): ClassCalls {
  const all = new Float64Array(DURATION_CLASS_MAX + 1);
  for (const [index, durationClass] of classes.entries()) all[durationClass] = calls[index] ?? 0;
  return all;
}

interface KeySum {
  errors: number;
  calls: ClassCalls;
}

/** Adds up calls by key and class of duration. */
export class UsageCounts {
  readonly #byKey: Map<string, KeySum>;
  readonly #own = new Set<string>();

  /** Goes on from others, which stay as they are: a sum is copied when something is added to it. */
  constructor(others?: UsageCounts) {
    this.#byKey = new Map(others === undefined ? [] : others.#byKey);
  }

  get size(): number {
    return this.#byKey.size;
  }

  add(key: string, errors: number, calls: ClassCalls): void {
    let sum = this.#byKey.get(key);
    if (sum === undefined || !this.#own.has(key)) {
      sum = { errors: sum?.errors ?? 0, calls: sum?.calls.slice() ?? new Float64Array(calls.length) };
      this.#byKey.set(key, sum);
      this.#own.add(key);
    }
    sum.errors += errors;
    for (let index = 0; index < calls.length; index += 1)
      sum.calls[index] = (sum.calls[index] ?? 0) + (calls[index] ?? 0);
  }

  /** By key. */
  groups(): UsageGroup[] {
    return [...this.#byKey]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { errors, calls }]) => {
        const total = calls.reduce((sum, each) => sum + each, 0);
        return {
          ...{ key, errors, calls: total },
          ...{ p50Ms: percentileOf(calls, total, 0.5), p95Ms: percentileOf(calls, total, 0.95) },
        };
      });
  }
}

/** As `percentileMs`, without an object for each class. */
function percentileOf(calls: ClassCalls, total: number, share: number): number | null {
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(total * share));
  let seen = 0;
  for (let index = 0; index < calls.length; index += 1) {
    seen += calls[index] ?? 0;
    if (seen >= rank) return classDurationMs(index);
  }
  throw new RangeError('a percentile is a share of at most 1');
}
