/** Something that happened to an object, with the object exactly as the API showed it at that moment. */
export interface PaymentsEvent {
  tenantId: string;
  id: string;
  type: EventType;
  subjectId: string;
  /** The object's JSON, made once: the response, the event and every webhook carry these bytes. */
  data: string;
  /** The organisation's time. */
  occurredAt: Date;
  createdAt: Date;
}

/** As much of an event as a webhook tells. */
export type ToldEvent = Omit<PaymentsEvent, 'subjectId' | 'createdAt'>;

export const eventTypes = [
  'payment.pending',
  'payment.processing',
  'payment.completed',
  'payment.failed',
  'payment.returned',
  'payment.canceled',
  'payment.rerouted',
  // What a payment that has ended paid back was taken back as well: its source owes it.
  'payment.owed',
  'payment_method.created',
  'payment_method.updated',
  'payment_method.deleted',
  'webhook_endpoint.test',
  'webhook_endpoint.disabled',
] as const;

/** Every payment has these. */
export const commonTypes: readonly string[] = ['payment.pending', 'payment.processing', 'payment.completed'];

export type EventType = (typeof eventTypes)[number];

export const EVENT_RETENTION_DAYS = 90;
