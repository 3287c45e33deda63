import Type from 'typebox';
import { EVENT_TYPES } from '../events/event.ts';
import { DELIVERY_STATUSES } from './webhook.ts';

/** Webhooks as the API takes and shows them. */

const Timestamp = Type.String({ format: 'date-time' });
const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const EventName = Type.Enum([...EVENT_TYPES], { type: 'string' });

export const NewConfig = Type.Object(
  {
    webhook_url: Type.String({
      description: 'A public https address.',
      examples: ['https://example.com/hooks'],
    }),
    events: Type.Optional(
      Type.Array(EventName, {
        minItems: 1,
        uniqueItems: true,
        description: 'What to be told of; all of it without this.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'ConfigureWebhook',
    examples: [{ webhook_url: 'https://example.com/hooks', events: ['whatsapp.message.received'] }],
  },
);

const configFields = {
  webhook_url: Type.String(),
  events: Type.Array(EventName),
  created_at: Timestamp,
};

const Attempts = Type.Array(
  Type.Object(
    {
      at: Timestamp,
      status: nullable(Type.Integer({ description: 'The HTTP status, where there was an answer.' })),
      error: nullable(Type.String()),
      duration_ms: Type.Integer(),
      response: Type.Optional(Type.String({ description: 'How the answer to a try that failed begins.' })),
    },
    { title: 'DeliveryAttempt' },
  ),
);
const attempts = [{ at: '2026-11-16T15:04:06.000Z', status: 200, error: null, duration_ms: 84 }];
const configExample = {
  webhook_url: 'https://example.com/hooks',
  events: ['whatsapp.message.received'],
  created_at: '2026-11-16T15:04:05.000Z',
};
const deliveryExample = {
  id: 'dlv_01kaf3v6w8q2m5x9t7c4b1n0ze',
  event_id: 'evt_01kaf3v6w8q2m5x9t7c4b1n0ze',
  event_type: 'whatsapp.message.received',
  status: 'delivered',
  attempts,
  next_attempt_at: null,
};

export const DeliverySchema = Type.Object(
  {
    id: Type.String(),
    event_id: Type.String({ description: 'Also the `webhook-id` of every try.' }),
    event_type: Type.String(),
    status: Type.Enum([...DELIVERY_STATUSES], {
      type: 'string',
      description: '`dead`: every retry was used up. `failed`: the webhook was removed before it arrived.',
    }),
    attempts: Attempts,
    next_attempt_at: nullable(Timestamp),
  },
  { title: 'Delivery', description: 'The way of one event to the webhook.', examples: [deliveryExample] },
);

export const DeliveryDetails = Type.Object(
  {
    ...DeliverySchema.properties,
    request: Type.Object({
      url: nullable(Type.String({ description: 'Where the last try went; null before the first.' })),
      body: Type.Unknown({
        description:
          'What is sent, the same at every try; null once it is kept no longer, and for a token whose only scope is `account:read`.',
      }),
    }),
  },
  {
    title: 'DeliveryDetails',
    examples: [
      {
        ...deliveryExample,
        request: {
          url: configExample.webhook_url,
          body: { type: 'webhook.test', timestamp: '2026-11-16T15:04:05.000Z', data: {} },
        },
      },
    ],
  },
);

export const DeadLetterSchema = Type.Object(
  {
    id: Type.String(),
    customer_id: Type.String(),
    event_id: Type.String(),
    event_type: Type.String(),
    webhook_url: Type.String(),
    payload: Type.Unknown({
      description:
        'The body that could not be delivered; null for a token whose only scope is `account:read`.',
    }),
    attempts: Attempts,
    failed_at: Timestamp,
    expires_at: Timestamp,
  },
  {
    title: 'DeadLetter',
    description: 'What could not be delivered after the last retry.',
    examples: [
      {
        id: 'dlq_01kaf3v6w8q2m5x9t7c4b1n0ze',
        customer_id: 'cus_01kaf3v6w8q2m5x9t7c4b1n0ze',
        event_id: deliveryExample.event_id,
        event_type: 'webhook.test',
        webhook_url: configExample.webhook_url,
        payload: { type: 'webhook.test', timestamp: '2026-11-16T15:04:05.000Z', data: {} },
        attempts: [{ at: '2026-11-16T15:04:06.000Z', status: 500, error: null, duration_ms: 84 }],
        failed_at: '2026-11-16T15:04:30.000Z',
        expires_at: '2026-11-23T15:04:30.000Z',
      },
    ],
  },
);
export const DeadLetterCustomer = Type.Object(
  {
    customer_id: Type.String(),
    customer: nullable(Type.Object({ name: Type.String(), email: Type.String() })),
    count: Type.Integer(),
    newest_at: Timestamp,
  },
  {
    title: 'DeadLetterCustomer',
    examples: [
      {
        ...{ customer_id: 'cus_01kaf3v6w8q2m5x9t7c4b1n0ze', count: 3 },
        customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
        newest_at: '2026-11-16T15:04:30.000Z',
      },
    ],
  },
);
export const ConfigSchema = Type.Object(
  { ...configFields, last_delivery: nullable(DeliverySchema) },
  { title: 'WebhookConfig', examples: [{ ...configExample, last_delivery: deliveryExample }] },
);
export const NewConfigSchema = Type.Object(
  { ...configFields, webhook_secret: Type.String({ description: 'Shown this once.' }) },
  {
    title: 'NewWebhookConfig',
    examples: [{ ...configExample, webhook_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  },
);
