export { type AppOptions, BODY_LIMIT_BYTES, createApp } from './app.ts';
export type { App } from './app-type.ts';
export { type CookieOptions, expireCookie, parseCookies, serializeCookie } from './cookies.ts';
export type { OpenApiOptions } from './docs.ts';
export type { MetricsAccess } from './health.ts';
export { isBadText, JSON_LIMITS, parseJson, readJson, refuseBadText } from './json-body.ts';
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
export { postgresRateStore, type RateQuery, rateLimitMigrations } from './rate-store.ts';
export { newRequestId, parseTraceparent, requestIdOf, type Trace } from './request-id.ts';
export { type AuditedCall, noteAudit, type RouteAudit } from './route-audit.ts';
export {
  createRoutes,
  type Decisions,
  type Gatekeeper,
  type Idempotency,
  type RouteAnswer,
  type RouteRules,
  type Routes,
} from './routes.ts';
export { acceptedHosts, acceptedOrigins, requireSameOrigin, sameOrigin } from './same-origin.ts';
export { explain as explainSchema } from './schema-explain.ts';
export { DASHBOARD_CSP, type ServeFolderOptions, serveFolder } from './serve-folder.ts';
export { stringMap } from './string-map.ts';
