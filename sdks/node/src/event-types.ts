import type { EventType, Mode, Payment, PaymentMethod, WebhookEndpoint } from './types.ts';

/** What an event of this type carries: the object concerned, as it was then. */
export type EventData<Type extends EventType> = Type extends `payment.${string}`
  ? Payment
  : Type extends `payment_method.${string}`
    ? PaymentMethod
    : WebhookEndpoint;

interface EventOf<Type extends EventType> {
  /** Equal to the header `webhook-id`: the same at every try, so it tells a repeat. */
  id: string;
  type: Type;
  /** When it happened, in the organisation's time. */
  timestamp: string;
  mode: Mode;
  data: EventData<Type>;
}

/** The body of a webhook. `event.type` tells TypeScript what `event.data` is. */
export type WebhookEvent = { [Type in EventType]: EventOf<Type> }[EventType];

/** An event as the API shows it. */
export type Event = WebhookEvent & { object: 'event'; created_at: string };
