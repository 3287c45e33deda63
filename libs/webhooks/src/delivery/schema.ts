import { fileURLToPath } from 'node:url';
import type { MigrationSeries } from '@libs/db';

/** A lower-case name, because it is put into SQL as it stands. */
export function checkSchemaName(name: string): string {
  if (!/^[a-z][a-z0-9_]{0,47}$/.test(name)) throw new TypeError(`${name} is not a plain schema name`);
  return name;
}

/** Where new and retried deliveries are announced. */
export function deliveryChannel(schema: string): string {
  return `${checkSchemaName(schema)}_due`;
}

/** The tables of a service's deliveries, in a schema of their own. */
export function deliveryMigrations(schema: string): MigrationSeries {
  return {
    name: 'webhooks',
    folder: fileURLToPath(new URL('../../migrations', import.meta.url)),
    schema: checkSchemaName(schema),
  };
}
