import { fileURLToPath } from 'node:url';
import type { MigrationSource } from '@libs/db';
import { rateLimitDdl } from '@libs/http';
import { jobsSchema } from '@libs/jobs';
import { deliverySchema } from '@libs/webhooks';
import { stateFragments } from './payments/states.ts';
import { DELIVERY_SCHEMA } from './webhooks/rules.ts';

export const SCHEMA = 'payments';

/** The schema of the service, with what the libraries and the table of states contribute to it. */
export function paymentsMigrations(): MigrationSource {
  return {
    schema: SCHEMA,
    folder: fileURLToPath(new URL('../migrations', import.meta.url)),
    fragments: {
      jobs: jobsSchema,
      rate_limits: rateLimitDdl(SCHEMA),
      deliveries: deliverySchema(DELIVERY_SCHEMA),
      ...stateFragments,
    },
  };
}
