export { Payments } from './client.ts';
export type { PaymentsOptions, RequestInfo, ResponseInfo } from './config.ts';
export {
  AuthenticationError,
  ConflictError,
  ConnectionFailedError,
  type FieldError,
  InvalidRequestError,
  NotFoundError,
  PaymentsError,
  type PaymentsErrorCode,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  SignatureInvalidError,
  type SignatureProblem,
} from './errors.ts';
export type { StreamOptions } from './event-stream.ts';
export type { Event, EventData, WebhookEvent } from './event-types.ts';
export type { List, ListParams, Page } from './pagination.ts';
export type { RequestOptions, WriteOptions } from './request.ts';
export type { EventFilters } from './resources/events.ts';
export type { LedgerEntryFilters } from './resources/ledger.ts';
export type { PaymentMethodFilters } from './resources/payment-methods.ts';
export type { PaymentFilters, WaitOptions } from './resources/payments.ts';
export type { DeliveryListParams } from './resources/webhook-endpoints.ts';
export type * from './types.ts';
export { API_VERSION, VERSION } from './version.ts';
export { UnexpectedStatusError, WaitTimeoutError } from './wait.ts';
export {
  type SignedHeaders,
  type SignOptions,
  type VerifyOptions,
  type WebhookBody,
  type WebhookHeaders,
  webhooks,
} from './webhooks.ts';
