import type { MigrationSource } from '@libs/db';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { PAYMENTS_SCHEMAS } from '../../services/payments/src/spreading/tables.ts';
import { migrationSource } from '../../services/toolhub/src/schema.ts';
import { TOOLHUB_SCHEMAS } from '../../services/toolhub/src/spreading/tables.ts';

/** Both services' migrations, with every schema that they fill. */
export const SERVICES: readonly { source: MigrationSource; schemas: readonly string[] }[] = [
  { source: paymentsMigrations(), schemas: PAYMENTS_SCHEMAS },
  { source: migrationSource, schemas: TOOLHUB_SCHEMAS },
];
