import { fileURLToPath } from 'node:url';
import type { MigrationSeries } from '@libs/db';

/** The table of waiting work. It lies in the service's own schema, so that one transaction writes a change and its job. */
export const jobsMigrations: MigrationSeries = {
  name: 'jobs',
  folder: fileURLToPath(new URL('../migrations', import.meta.url)),
};
