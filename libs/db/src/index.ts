export {
  boolArray,
  byteaArray,
  int8Array,
  jsonbArray,
  textArray,
  timestamptzArray,
} from './arrays.ts';
export type { BatcherOptions, Outcome } from './batcher.ts';
export { createBatcher } from './batcher.ts';
export type {
  Database,
  DatabaseOptions,
  ListenOptions,
  PreparedStatement,
  Queryable,
  QueryResult,
  Subscription,
  TransactionOptions,
} from './database.ts';
export { DatabaseUnreachable, openDatabase } from './database.ts';
export type { EmbeddedOptions, EmbeddedServer } from './embedded.ts';
export { DataFolderError, startEmbedded } from './embedded.ts';
export type { Migration, MigrationSeries, MigrationSource } from './migrate.ts';
export { MigrationError, migrate, readMigrations } from './migrate.ts';
