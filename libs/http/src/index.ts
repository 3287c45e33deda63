export { type App, type AppOptions, BODY_LIMIT_BYTES, createApp } from './app.ts';
export {
  type Env,
  loadSettings,
  type NamedToken,
  type Setting,
  type SettingReader,
  type Settings,
  SettingsError,
  type SettingsSpec,
  settings,
} from './config.ts';
export { type CookieOptions, expireCookie, parseCookies, serializeCookie } from './cookies.ts';
export type { OpenApiOptions } from './docs.ts';
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
  statusByKind,
  type ThrowOptions,
} from './errors.ts';
export { isBadText, parseJson } from './json-body.ts';
export { createLogger, type LoggerOptions, type LogLevel, redact, scrubText, serializeError } from './log.ts';
export {
  type CursorCodec,
  cursorCodec,
  listQuery,
  listSchema,
  objectListSchema,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  toPage,
} from './pagination.ts';
export { PROBLEM_TYPE, type Problem, toProblem } from './problem.ts';
export type { RateDecision } from './rate-bucket.ts';
export {
  type RateDelta,
  type RateLimit,
  RateLimits,
  type RateLimitsOptions,
  type RatePolicy,
  type RateStore,
} from './rate-limit.ts';
export { postgresRateStore, type RateQuery, rateLimitDdl } from './rate-store.ts';
export { newRequestId, parseTraceparent, requestIdOf, type Trace } from './request-id.ts';
export { type Closer, type RunOptions, runUntilSignal } from './run.ts';
export { acceptedHosts, acceptedOrigins, requireSameOrigin, sameOrigin } from './same-origin.ts';
export { DASHBOARD_CSP, type ServeFolderOptions, serveFolder } from './serve-folder.ts';
export { type ListenOptions, listen, type MainOptions, runMain, StartError, startFailure } from './start.ts';
export { stringMap } from './string-map.ts';
