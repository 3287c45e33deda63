export {
  boolArray,
  byteaArray,
  int8Array,
  jsonbArray,
  textArray,
  timestamptzArray,
} from './arrays.ts';
export type {
  Batcher,
  BatcherOptions,
  EndedBatch,
  FailedBatch,
  Outcome,
  Verdict,
} from './batching/batcher.ts';
export { createBatcher, isDeadlock, isRefusedData, outcomesOf } from './batching/batcher.ts';
export { createBatcherByServer } from './batching/by-server.ts';
export { patienceAmongProcesses } from './batching/patience.ts';
export { type ChangeHandler, type Changes, openChanges } from './changes.ts';
export { isAwayFrom, isDatabaseAway, isServerMissing, isTenantAway } from './connection/away.ts';
export {
  type ConnectionOptions,
  connectionSettings,
  DatabaseUnreachable,
  type Timeouts,
} from './connection/connection.ts';
export { observePools, reportSecondConnections } from './connection/monitoring.ts';
export { SecondConnection } from './connection/one-connection.ts';
export type { ListenOptions, Subscription } from './connection/subscription.ts';
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
export { DataFolderError } from './embedded/data-folder-error.ts';
export type { EmbeddedOptions, EmbeddedServer } from './embedded/embedded.ts';
export { startEmbedded } from './embedded/embedded.ts';
export { type HeldLease, leasesOn } from './lease.ts';
export type { Migration, MigrationSeries, MigrationSource } from './migrate.ts';
export { MigrationError, migrate, readMigrations } from './migrate.ts';
export { type DividedTable, dayBorders, idBorders, makePart, type PartBorders, renewParts } from './parts.ts';
export {
  groupByTenant,
  queryByTenant,
  type TenantStatement,
  tenantStatement,
  withinTransaction,
} from './spread/by-tenant.ts';
export { awaitCommits } from './spread/commits.ts';
export { placeLibraryTables } from './spread/library-tables.ts';
export type { PlacedTable, PlacedTables, Placement } from './spread/placement.ts';
export { CommitsUnsettled } from './spread/settle.ts';
export { SpreadError, spread } from './spread/spread.ts';
export { prepareSchema } from './spread/start.ts';
export { type AwayServer, EVERY_SERVER, findServersThere, type ServersThere } from './spread/there.ts';
