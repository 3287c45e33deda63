export {
  boolArray,
  byteaArray,
  int8Array,
  jsonbArray,
  textArray,
  timestamptzArray,
} from './arrays.ts';
export { isAwayFrom, isDatabaseAway } from './away.ts';
export type { Batcher, BatcherOptions, EndedBatch, Outcome, Verdict } from './batcher.ts';
export { createBatcher, isRefusedData, outcomesOf } from './batcher.ts';
export {
  groupByTenant,
  queryByTenant,
  type TenantStatement,
  tenantStatement,
  withinTransaction,
} from './by-tenant.ts';
export { type ChangeHandler, type Changes, openChanges } from './changes.ts';
export { awaitCommits, awaitServers } from './commits.ts';
export {
  type ConnectionOptions,
  connectionSettings,
  DatabaseUnreachable,
  type Timeouts,
} from './connection.ts';
export type {
  Database,
  DatabaseOptions,
  PoolUsage,
  PreparedStatement,
  Queryable,
  QueryResult,
  Transaction,
  TransactionOptions,
} from './database.ts';
export { isTransaction, openDatabase } from './database.ts';
export type { EmbeddedOptions, EmbeddedServer } from './embedded.ts';
export { DataFolderError, startEmbedded } from './embedded.ts';
export { type HeldLease, leasesOn } from './lease.ts';
export { placeLibraryTables } from './library-tables.ts';
export type { Migration, MigrationSeries, MigrationSource } from './migrate.ts';
export { MigrationError, migrate, readMigrations } from './migrate.ts';
export { observePools, reportSecondConnections } from './monitoring.ts';
export { SecondConnection } from './one-connection.ts';
export { type DividedTable, dayBorders, idBorders, makePart, type PartBorders, renewParts } from './parts.ts';
export { patienceAmongProcesses } from './patience.ts';
export type { PlacedTable, PlacedTables, Placement } from './placement.ts';
export { CommitsUnsettled } from './settle.ts';
export { SpreadError, spread } from './spread.ts';
export type { ListenOptions, Subscription } from './subscription.ts';
