import { fileURLToPath } from 'node:url';
import type { MigrationSeries } from '@libs/db';

/** Sessions, tries and links in mails, for a service that has no such tables of its own. They lie in its schema. */
export const loginMigrations: MigrationSeries = {
  name: 'login',
  folder: fileURLToPath(new URL('../migrations', import.meta.url)),
};
