export { addressKey } from './address-key.ts';
export { type AppOptions, BODY_LIMIT_BYTES, createApp } from './app.ts';
export type { App } from './app-type.ts';
export { type CookieOptions, expireCookie, parseCookies, serializeCookie } from './cookies.ts';
export { csvLine } from './csv.ts';
export type { MetricsAccess } from './health.ts';
export {
  JSON_LIMITS,
  LARGE_JSON_BYTES,
  parseJson,
  type ReadJson,
  readJson,
  readLargeJson,
  refuseBadText,
} from './json-body.ts';
export type { OpenApiOptions, WebhookDescription } from './openapi/document.ts';
export type { OpenApiDocument, Parameter } from './openapi/schema.ts';
export { type PagesOptions, registerPages } from './pages.ts';
export {
  type CursorCodec,
  cursorCodec,
  listPage,
  listQuery,
  listSchema,
  objectListPage,
  objectListSchema,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  type PageQuery,
} from './pagination.ts';
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
export { type AuditedCall, noteAudit, type RouteAudit } from './route-audit.ts';
export {
  createRoutes,
  type DecidedRoute,
  type Decisions,
  type Gatekeeper,
  type Idempotency,
  type RouteAnswer,
  type RouteRules,
  type Routes,
} from './routes.ts';
export { acceptedHosts, acceptedOrigins, requireSameOrigin } from './same-origin.ts';
export { explain as explainSchema } from './schema-explain.ts';
export { stringMap } from './string-map.ts';
