import { Counter, Histogram, type Metrics } from '@libs/runtime';
import type { Outcome } from '../audit/entry.ts';

/** The rung of the ladder that stopped a call before it reached its platform. */
export type Gate = 'rate' | 'scope' | 'arguments' | 'approval' | 'limit';

/** Counts tool calls. The series are looked up once, since hashing labels is costly. */
export interface CallMetrics {
  count(platform: string | null, outcome: Outcome, durationMs: number): void;
  refused(gate: Gate): void;
}

const BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createCallMetrics(metrics: Metrics): CallMetrics {
  const registers = [metrics];
  const calls = new Counter({
    name: 'toolhub_tool_calls_total',
    help: 'Tool calls that were answered, by platform and outcome; calls of no platform count under accounts.',
    labelNames: ['platform', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'toolhub_tool_call_duration_seconds',
    help: 'How long tool calls took from their arguments to their result, by platform.',
    ...{ labelNames: ['platform'], registers, buckets: BUCKETS_SECONDS },
  });
  const refusals = new Counter({
    name: 'toolhub_gate_refusals_total',
    help: 'Tool calls that were stopped before their platform, by gate (rate, scope, arguments, approval, limit).',
    labelNames: ['gate'],
    registers,
  });
  const series = new Map<string, { calls: Counter.Internal; durations: Histogram.Internal<string> }>();
  return {
    count(platform, outcome, durationMs) {
      const key = `${platform} ${outcome}`;
      let one = series.get(key);
      if (one === undefined) {
        const name = platform ?? 'accounts';
        one = { calls: calls.labels(name, outcome), durations: durations.labels(name) };
        series.set(key, one);
      }
      one.calls.inc();
      one.durations.observe(durationMs / 1000);
    },
    refused: (gate) => refusals.inc({ gate }),
  };
}
