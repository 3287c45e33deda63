import Type from 'typebox';
import { ModeSchema, oneOfStrings, Timestamp } from '../api-schema.ts';
import { MethodSchema } from '../payment-methods/schemas.ts';
import { paymentExample } from '../payments/examples.ts';
import { PaymentSchema } from '../payments/schemas.ts';
import { EndpointSchema } from '../webhooks/schemas.ts';
import { type EventType, eventTypes } from './event.ts';

export const eventExample = {
  id: 'evt_01kaf3v6wcn1r0d8s4h2j7x5yb',
  object: 'event',
  type: 'payment.pending',
  timestamp: paymentExample.created_at,
  mode: 'test',
  created_at: paymentExample.created_at,
  data: paymentExample,
} as const;

export const EventTypeSchema = oneOfStrings(eventTypes, {
  title: 'EventType',
  description: 'What happened.',
});

const When = Type.String({
  format: 'date-time',
  description: "When it happened, in the organisation's time.",
});

export const EventSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('event'),
    type: EventTypeSchema,
    timestamp: When,
    mode: ModeSchema,
    created_at: Timestamp,
    data: Type.Union([PaymentSchema, MethodSchema, EndpointSchema], {
      description: 'The object concerned, as it was then; `type` says which.',
    }),
  },
  { title: 'Event', description: 'Something that happened.', examples: [eventExample] },
);

const about: Record<EventType, string> = {
  'payment.pending': 'A payment was accepted',
  'payment.processing': 'A payment was handed to its rail',
  'payment.completed': 'A payment has settled',
  'payment.failed': 'A payment was refused; nobody was paid',
  'payment.returned': 'A payment came back after it was completed',
  'payment.canceled': 'A payment was canceled before it left',
  'payment.rerouted': 'Another rail took over a payment',
  'payment.owed': 'A payment that has ended left something owed',
  'payment_method.created': 'A payment method was added',
  'payment_method.updated':
    'A bank corrected the details of a payment method, or a late return opened a deleted balance again',
  'payment_method.deleted': 'A payment method was deleted',
  'webhook_endpoint.test': 'You asked for a test of an endpoint',
  'webhook_endpoint.disabled': 'An endpoint was switched off',
};

function subjectOf(type: EventType) {
  if (type.startsWith('payment.')) return PaymentSchema;
  return type.startsWith('payment_method.') ? MethodSchema : EndpointSchema;
}

/** What webhooks carry, by type of event. */
export const webhookDescriptions = Object.fromEntries(
  eventTypes.map((type) => [
    type,
    {
      summary: about[type],
      description:
        'Sent to every endpoint that wants this type. Delivered at least once, in no certain order: `data` is the whole object as it was then.',
      tags: ['Webhooks'],
      schema: Type.Object({
        id: Type.String({ examples: [eventExample.id], description: 'Also the header `webhook-id`.' }),
        type: Type.Literal(type),
        timestamp: When,
        mode: ModeSchema,
        data: subjectOf(type),
      }),
    },
  ]),
);
