import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram } from 'prom-client';

/** What a process counts and measures; services add their own metrics to it, `/metrics` shows all of them. */
export type Metrics = Registry;

export type MetricsOptions = {
  /** The label `service` of every series: `payments`. */
  service: string;
  /** Memory, event loop and the like beside a service's own; tests that make many leave them out. */
  processMetrics?: boolean;
};

export function createMetrics({ service, processMetrics = true }: MetricsOptions): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  if (processMetrics) collectDefaultMetrics({ register: registry });
  return registry;
}
