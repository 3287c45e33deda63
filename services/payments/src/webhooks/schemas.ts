import Type from 'typebox';
import { closed, nullable, oneOfStrings, Timestamp } from '../api-schema.ts';
import { eventTypes } from '../events/event.ts';
import { eventChoices } from './endpoint.ts';

export const endpointExample = {
  id: 'we_01kaf3v6w8q2m5x9t7c4b1n0ze',
  object: 'webhook_endpoint',
  url: 'https://example.com/webhooks',
  events: ['payment.completed', 'payment.failed'],
  description: null,
  status: 'enabled',
  disabled_reason: null,
  created_at: '2026-11-16T15:04:05.000Z',
  updated_at: '2026-11-16T15:04:05.000Z',
} as const;

export const deliveryExample = {
  id: 'dlv_01kaf3v6wcn1r0d8s4h2j7x5yb',
  object: 'webhook_delivery',
  event_id: 'evt_01kaf3v6wcn1r0d8s4h2j7x5yb',
  event_type: 'payment.completed',
  endpoint_id: endpointExample.id,
  status: 'delivered',
  attempts: [{ at: '2026-11-16T15:04:08.000Z', status: 200, error: null, duration_ms: 84 }],
  next_attempt_at: null,
  created_at: '2026-11-16T15:04:07.000Z',
} as const;

const URL_LENGTH_MAX = 2_048;
const DESCRIPTION_LENGTH_MAX = 500;

const Url = Type.String({ minLength: 1, maxLength: URL_LENGTH_MAX, examples: ['https://example.com/hooks'] });
const EventChoice = oneOfStrings(eventChoices, { title: 'EventChoice' });
const Events = Type.Array(EventChoice, {
  minItems: 1,
  uniqueItems: true,
  description: 'Types of events; `*`, the default, stands for all of them.',
});
const Description = nullable(Type.String({ maxLength: DESCRIPTION_LENGTH_MAX }));
const Status = oneOfStrings(['enabled', 'disabled']);

export const CreateEndpoint = Type.Object(
  { url: Url, events: Type.Optional(Events), description: Type.Optional(Description) },
  {
    ...closed,
    title: 'CreateWebhookEndpoint',
    examples: [{ url: endpointExample.url, events: ['payment.completed', 'payment.failed'] }],
  },
);
export const PatchEndpoint = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    status: Type.Optional(Status),
  },
  { ...closed, title: 'UpdateWebhookEndpoint', examples: [{ events: ['payment.completed'] }] },
);
const fields = {
  id: Type.String(),
  object: Type.Literal('webhook_endpoint'),
  url: Type.String(),
  events: Type.Array(EventChoice),
  description: Description,
  status: Status,
  disabled_reason: nullable(
    oneOfStrings(
      ['gone', 'failing', 'manual'],
      '`gone`: it answered 410. `failing`: it only failed for days. `manual`: you switched it off.',
    ),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const EndpointSchema = Type.Object(fields, {
  title: 'WebhookEndpoint',
  description: 'An address that events are sent to.',
  examples: [endpointExample],
});
export const EndpointWithSecret = Type.Object(
  { ...fields, secret: Type.String({ description: 'Signs the webhooks; shown this once.' }) },
  {
    title: 'WebhookEndpointWithSecret',
    examples: [{ ...endpointExample, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  },
);
const Attempt = Type.Object(
  {
    at: Timestamp,
    status: nullable(Type.Integer({ description: 'The HTTP status, where there was an answer.' })),
    error: nullable(Type.String()),
    duration_ms: Type.Integer(),
    response: Type.Optional(
      Type.String({ description: 'How the answer to a try that failed begins: at most 500 bytes.' }),
    ),
  },
  { title: 'DeliveryAttempt' },
);

export const DeliverySchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('webhook_delivery'),
    event_id: Type.String(),
    event_type: oneOfStrings(eventTypes, { title: 'EventType', description: 'What happened.' }),
    endpoint_id: Type.String(),
    status: oneOfStrings(
      ['pending', 'delivered', 'failed', 'abandoned'],
      '`failed`: every retry was used up. `abandoned`: the endpoint was switched off or deleted.',
    ),
    attempts: Type.Array(Attempt),
    next_attempt_at: nullable(Timestamp),
    created_at: Timestamp,
  },
  {
    title: 'WebhookDelivery',
    description: 'The way of one event to one endpoint.',
    examples: [deliveryExample],
  },
);
