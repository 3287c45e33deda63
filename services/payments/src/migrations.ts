import { fileURLToPath } from 'node:url';
import type { MigrationSource } from '@libs/db';
import { rateLimitDdl } from '@libs/http';
import { jobsSchema } from '@libs/jobs';
import { stateFragments } from './payments/states.ts';

export const SCHEMA = 'payments';

/** The schema of the service, with what the libraries and the table of states contribute to it. */
export function paymentsMigrations(): MigrationSource {
  return {
    schema: SCHEMA,
    folder: fileURLToPath(new URL('../migrations', import.meta.url)),
    fragments: { jobs: jobsSchema, rate_limits: rateLimitDdl(SCHEMA), ...stateFragments },
  };
}
