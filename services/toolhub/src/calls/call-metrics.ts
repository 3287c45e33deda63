import { Counter, type Registry } from 'prom-client';
import type { Outcome } from '../audit/entry.ts';

/** Counts tool calls by platform and outcome. The series are looked up once, since hashing labels is costly. */
export interface CallMetrics {
  count(platform: string | null, outcome: Outcome): void;
}

export function createCallMetrics(registry: Registry): CallMetrics {
  const calls = new Counter({
    name: 'toolhub_tool_calls_total',
    help: 'Tool calls that were answered, by platform and outcome; calls of no platform count under accounts.',
    labelNames: ['platform', 'outcome'],
    registers: [registry],
  });
  const series = new Map<string, Counter.Internal>();
  return {
    count(platform, outcome) {
      const key = `${platform} ${outcome}`;
      let one = series.get(key);
      if (one === undefined) {
        one = calls.labels(platform ?? 'accounts', outcome);
        series.set(key, one);
      }
      one.inc();
    },
  };
}
