import type { Metrics } from '@libs/runtime';
import type { Metric } from 'prom-client';

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const NAME = 'http_request_duration_seconds';

type Series = { labels: Record<string, string>; counts: Float64Array; sum: number; count: number };

/**
 * A histogram whose series are looked up once per route and not once per request: prom-client's own hashes all
 * labels at every observation, which costs more than the rest of our work on a request.
 */
export class DurationHistogram {
  readonly name = NAME;
  readonly help = 'Duration of HTTP requests in seconds, by route, method and status.';
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #series: Series[] = [];

  /** The observer of one route and method. */
  forRoute(route: string, method: string): (status: number, milliseconds: number) => void {
    const byStatus: (Series | undefined)[] = [];
    return (status, milliseconds) => {
      let series = byStatus[status];
      if (series === undefined) {
        series = this.#newSeries({ method, route, status: String(status) });
        byStatus[status] = series;
      }
      observe(series, milliseconds / 1000);
    };
  }

  #newSeries(labels: Record<string, string>): Series {
    const series = { labels, counts: new Float64Array(BUCKETS_SECONDS.length), sum: 0, count: 0 };
    this.#series.push(series);
    return series;
  }

  reset(): void {
    for (const series of this.#series) {
      series.counts.fill(0);
      series.sum = 0;
      series.count = 0;
    }
  }

  async get(): Promise<object> {
    return { ...this, values: this.#series.flatMap(valuesOf) };
  }
}

function observe(series: Series, seconds: number): void {
  series.sum += seconds;
  series.count++;
  for (let i = 0; i < BUCKETS_SECONDS.length; i++) {
    if (seconds <= (BUCKETS_SECONDS[i] as number)) {
      series.counts[i] = (series.counts[i] as number) + 1;
      return;
    }
  }
}

function valuesOf({ labels, counts, sum, count }: Series): object[] {
  let cumulative = 0;
  const buckets = BUCKETS_SECONDS.map((le, index) => {
    cumulative += counts[index] as number;
    return { metricName: `${NAME}_bucket`, labels: { ...labels, le }, value: cumulative };
  });
  return [
    ...buckets,
    { metricName: `${NAME}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${NAME}_sum`, labels, value: sum },
    { metricName: `${NAME}_count`, labels, value: count },
  ];
}

export function registerDurations(metrics: Metrics): DurationHistogram {
  const durations = new DurationHistogram();
  // The registry only reads `name` and calls `get` and `reset`; its type asks for one of its own classes.
  metrics.registerMetric(durations as unknown as Metric);
  return durations;
}
