import type { PlacedTables } from './placement.ts';

/** Tables that every service has from the migrations and the libraries. */
export function placeLibraryTables(schema: string, deliverySchema: string): PlacedTables {
  const byTenant = { placement: 'by tenant', by: 'tenant_id' } as const;
  return {
    [`${schema}.migrations`]: { placement: 'local', why: 'one row for each file' },
    [`${schema}.jobs`]: {
      placement: 'managed local',
      why: 'claimed over all tenants, written with their rows',
    },
    [`${schema}.rate_limit_buckets`]: { placement: 'local', why: 'unlogged, written for itself' },
    [`${schema}.rate_limit_processes`]: { placement: 'local', why: 'one row for each process' },
    [`${deliverySchema}.queue`]: {
      placement: 'managed local',
      why: 'due lanes are looked for over all tenants',
    },
    [`${deliverySchema}.deliveries`]: byTenant,
    [`${deliverySchema}.failing_endpoints`]: byTenant,
    [`${deliverySchema}.lanes`]: { placement: 'managed local', why: 'joined with the queue' },
    [`${deliverySchema}.dispatchers`]: { placement: 'managed local', why: 'joined with the lanes' },
  };
}
