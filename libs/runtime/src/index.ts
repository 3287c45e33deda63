export { type Beats, startBeats } from './beats.ts';
export { closeWithin, DRAIN_TIMEOUT_MS, Drain, watchConnections } from './drain.ts';
export {
  AppError,
  type AppErrorOptions,
  type BaseErrors,
  baseErrors,
  defineErrors,
  type ErrorCatalogue,
  type ErrorDefinition,
  type ErrorDefinitions,
  type ErrorKind,
  type ErrorRegistry,
  type FieldError,
  isRetryable,
  statusByKind,
  type ThrowOptions,
} from './errors.ts';
export { makeFolder } from './folders.ts';
export { type JsonExcess, type JsonLimits, type JsonShape, measureJson } from './json-shape.ts';
export {
  createLogger,
  type LogDestination,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  scrubText,
} from './log.ts';
export { logDestination } from './log-output.ts';
export { Counter, createMetrics, Gauge, Histogram, type Metrics, type MetricsOptions } from './metrics.ts';
export { createLoggedOutage, createOutage, type Outage, type OutageReport } from './outage.ts';
export { type Closer, closingOnFailure, type RunOptions, runUntilSignal } from './run.ts';
export type { NamedToken } from './secret-settings.ts';
export type { SettingReader } from './setting-reader.ts';
export {
  type Env,
  loadSettings,
  type Setting,
  type Settings,
  SettingsError,
  type SettingsSpec,
  settings,
} from './settings.ts';
export { type JsonFault, JsonRefused, parseInSlices, type SlicedJson } from './sliced-json.ts';
export { type ListenOptions, listen, type MainOptions, runMain, StartError, startFailure } from './start.ts';
export {
  carriedTrace,
  currentTrace,
  formatTraceparent,
  leaveTrace,
  nextTraceparent,
  parseTraceparent,
  runInCarried,
  runInTrace,
  runInTraces,
  sharedTrace,
  type Trace,
  type Traces,
  traceOf,
} from './trace.ts';
export { nextTurn } from './turns.ts';
export { type OwnSettings, unknownSettings } from './unknown-settings.ts';
