import { Counter, type Metrics } from '@libs/runtime';

/** How the renewal of a token ended: renewed, refused for good by the platform, or not possible now. */
export type RefreshEnd = 'renewed' | 'refused' | 'unavailable';

export type CountRefresh = (platform: string, outcome: RefreshEnd) => void;

export function createRefreshCounter(metrics: Metrics): CountRefresh {
  const refreshes = new Counter({
    name: 'toolhub_credential_refreshes_total',
    help: 'Renewals of tokens at their platforms, by platform and outcome (renewed, refused, unavailable).',
    labelNames: ['platform', 'outcome'],
    registers: [metrics],
  });
  return (platform, outcome) => refreshes.inc({ platform, outcome });
}
