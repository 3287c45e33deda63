import { fileURLToPath } from 'node:url';
import type { MigrationSource } from '@libs/db';
import { rateLimitMigrations } from '@libs/http';
import { jobsMigrations } from '@libs/jobs';
import { loginMigrations } from '@libs/login';
import { deliveryMigrations } from '@libs/webhooks';
import { DELIVERY_SCHEMA } from './webhooks/rules.ts';

export const SCHEMA = 'payments';

/** The schema of the service: the libraries' tables, then its own. */
export function paymentsMigrations(): MigrationSource {
  return {
    schema: SCHEMA,
    series: [
      jobsMigrations,
      rateLimitMigrations,
      loginMigrations,
      deliveryMigrations(DELIVERY_SCHEMA),
      { name: 'payments', folder: fileURLToPath(new URL('../migrations', import.meta.url)) },
    ],
  };
}
