import type { MigrationSource } from '@libs/db';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { migrationSource } from '../../services/toolhub/src/schema.ts';
import { PAYMENTS_SCHEMAS } from './payments-tables.ts';
import { TOOLHUB_SCHEMAS } from './toolhub-tables.ts';

/** Both services' migrations, with every schema that they fill. */
export const SERVICES: readonly { source: MigrationSource; schemas: readonly string[] }[] = [
  { source: paymentsMigrations(), schemas: PAYMENTS_SCHEMAS },
  { source: migrationSource, schemas: TOOLHUB_SCHEMAS },
];
