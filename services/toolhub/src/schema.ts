import { fileURLToPath } from 'node:url';
import type { MigrationSource } from '@libs/db';
import { rateLimitDdl } from '@libs/http';
import { jobsSchema } from '@libs/jobs';
import { deliverySchema } from '@libs/webhooks';
import { DELIVERY_SCHEMA } from './webhooks/rules.ts';

export const SCHEMA = 'toolhub';

export const migrationSource: MigrationSource = {
  schema: SCHEMA,
  folder: fileURLToPath(new URL('../migrations', import.meta.url)),
  fragments: {
    jobs: jobsSchema,
    rate_limits: rateLimitDdl(SCHEMA),
    deliveries: deliverySchema(DELIVERY_SCHEMA),
  },
};
