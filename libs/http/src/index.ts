export { type AppOptions, BODY_LIMIT_BYTES, createApp, requirePlainBody } from './app.ts';
export type { App } from './app-type.ts';
export { type CookieOptions, expireCookie, parseCookies, serializeCookie } from './cookies.ts';
export { csvLine } from './csv.ts';
export type { MetricsAccess } from './edge/health.ts';
export { acceptedHosts, acceptedOrigins, refuseForeignPages, requireSameOrigin } from './edge/same-origin.ts';
export { storedMoment } from './input/formats.ts';
export {
  JSON_LIMITS,
  LARGE_JSON_BYTES,
  parseJson,
  type ReadJson,
  readJson,
  readLargeJson,
  refuseBadText,
} from './input/json-body.ts';
export { pointerTo } from './input/pointer.ts';
export { explain as explainSchema } from './input/schema-explain.ts';
export { stringMap } from './input/string-map.ts';
export type { OpenApiOptions, WebhookDescription } from './openapi/document.ts';
export type { OpenApiDocument, Parameter } from './openapi/schema.ts';
export { type PagesOptions, registerPages } from './pages/pages.ts';
export {
  badCursor,
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
export { addressKey } from './rates/address-key.ts';
export type { RateDecision } from './rates/rate-bucket.ts';
export {
  type RateDelta,
  type RateLimit,
  RateLimits,
  type RateLimitsOptions,
  type RatePolicy,
  type RateStore,
} from './rates/rate-limit.ts';
export { postgresRateStore, type RateQuery, rateLimitMigrations } from './rates/rate-store.ts';
export { type AuditedCall, noteAudit, type RouteAudit } from './route-audit.ts';
export {
  createRoutes,
  type DecidedRoute,
  type Decisions,
  type Gatekeeper,
  type Idempotency,
  type KeyedWork,
  type RouteRules,
  type Routes,
} from './routes.ts';
export { sendParts } from './send-parts.ts';
