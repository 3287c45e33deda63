import { Counter, Gauge, Histogram, type Metrics } from '@libs/runtime';
import type { DeliveryResult } from './delivery.ts';

const LAG_BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300, 3_600, 86_400];
/** A queue with more than this is counted as this many: the count may not cost more the fuller it is. */
const COUNTED_MAX = 10_000;

export interface DeliveryMetricsDependencies {
  readonly metrics: Metrics;
  readonly now: () => Date;
  /** When the event with this id was made. */
  readonly madeAtMs: (eventId: string) => number | undefined;
}

export interface WatchedDispatcher {
  stats(): { inFlight: number; slow: number };
  /** How many deliveries wait, counted no further than the limit. */
  countQueued(limit: number): Promise<number>;
  onError(error: unknown): void;
}

/** Gives what is to be told of every result that was written down. */
export function createDeliveryMetrics(
  { metrics, now, madeAtMs }: DeliveryMetricsDependencies,
  dispatcher: WatchedDispatcher,
): (results: readonly DeliveryResult[]) => void {
  const registers = [metrics];
  const tries = new Counter({
    name: 'webhooks_tries_total',
    help: 'Tries of webhook deliveries by this process, by how they ended (delivered, retry, exhausted, abandoned, gone).',
    labelNames: ['result'],
    registers,
  });
  const lag = new Histogram({
    name: 'webhooks_delivery_lag_seconds',
    help: 'Time from an event to its delivery.',
    ...{ registers, buckets: LAG_BUCKETS_SECONDS },
  });
  new Gauge({
    name: 'webhooks_queued',
    help: `Deliveries that wait for a first or another try; counted up to ${COUNTED_MAX}.`,
    registers,
    async collect() {
      // The other metrics are wanted most when the database does not answer.
      const count = await dispatcher.countQueued(COUNTED_MAX).catch(dispatcher.onError);
      if (typeof count === 'number') this.set(count);
      else this.reset();
    },
  });
  new Gauge({
    name: 'webhooks_in_flight',
    help: 'Deliveries of this process that are under way, and those of them that are slow.',
    labelNames: ['pace'],
    registers,
    collect() {
      const { inFlight, slow } = dispatcher.stats();
      this.set({ pace: 'usual' }, inFlight - slow);
      this.set({ pace: 'slow' }, slow);
    },
  });
  return (results) => {
    const nowMs = now().getTime();
    for (const { kind, eventId } of results) {
      tries.inc({ result: kind });
      const madeMs = kind === 'delivered' ? madeAtMs(eventId) : undefined;
      if (madeMs !== undefined) lag.observe(Math.max(0, nowMs - madeMs) / 1000);
    }
  };
}
