export type {
  Attempt,
  Delivery,
  DeliveryResult,
  DeliveryStatus,
  DisableReason,
  DueDelivery,
  EndpointAddress,
  EndpointRef,
  EndpointTarget,
  EventBody,
  EventRef,
  NewDelivery,
  QueuedDelivery,
} from './delivery/delivery.ts';
export type { OfferedDelivery } from './delivery/dispatch-loop.ts';
export {
  createDeliveryDispatcher,
  type DeliveryDispatcher,
  type DeliveryDispatcherOptions,
  type DispatcherStats,
} from './delivery/dispatcher.ts';
export type { DeliveryLoaders } from './delivery/loading.ts';
export {
  createDeliveryQueue,
  type DeliveryQueue,
  type DeliveryQueueOptions,
  type EnqueueOptions,
} from './delivery/queue.ts';
export type { DeliveryFilter } from './delivery/queue-store.ts';
export type { DeliveryHooks } from './delivery/recorder.ts';
export type { ResultRules } from './delivery/results.ts';
export type { RetryRules } from './delivery/schedule.ts';
export { deliveryMigrations } from './delivery/schema.ts';
export {
  decodeWebhookSecret,
  newWebhookSecret,
  type SignedMessage,
  signMessage,
  type VerifyFailure,
  type VerifyInput,
  type VerifyResult,
  verifyMessage,
} from './signing.ts';
