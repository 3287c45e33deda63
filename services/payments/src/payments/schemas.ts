import { objectListSchema, stringMap } from '@libs/http';
import Type from 'typebox';
import { closed, ModeSchema, nullable, oneOfStrings, RailSchema, Timestamp } from '../api-schema.ts';
import { momentText } from '../moment.ts';
import { OUTSIDE_RAIL_IDS, RAIL_IDS } from '../rails/rail-ids.ts';
import { paymentExample, quoteExample } from './examples.ts';
import { paymentStatuses } from './states.ts';

export const METHOD_ID_LENGTH_MAX = 255;
const PAYMENT_ID_LENGTH_MAX = 255;
export const DESCRIPTION_LENGTH_MAX = 140;
export const METADATA_LIMITS = { pairsMax: 50, keyLengthMax: 40, valueLengthMax: 500 };

const MethodReference = Type.Object(
  {
    payment_method_id: Type.String({
      minLength: 1,
      maxLength: METHOD_ID_LENGTH_MAX,
      description: 'In test mode, any id that begins with `pm_` works at its first use.',
      examples: ['pm_alice'],
    }),
  },
  { ...closed, title: 'PaymentMethodReference' },
);

const Amount = Type.Integer({ minimum: 1, description: 'Minor units: 1000 is 10.00 USD.', examples: [1000] });
const Currency = Type.String({
  pattern: '^[A-Za-z]{3}$',
  description: 'ISO 4217; the rails carry USD.',
  examples: ['USD'],
});
const RailChoice = oneOfStrings(['auto', ...OUTSIDE_RAIL_IDS], {
  title: 'RailChoice',
  description: '`auto` lets the service choose; `rtp` is fast, `ach` is cheap.',
});
const Prefer = oneOfStrings(['balanced', 'speed', 'cost'], {
  title: 'Preference',
  description:
    'What `auto` looks at: the earliest settlement, the lowest fee, or both (fee and the cost of the delay).',
});
const Status = oneOfStrings(paymentStatuses, {
  title: 'PaymentStatus',
  description:
    '`pending`: accepted. `processing`: handed to the rail. `completed`: settled. `failed`: refused, nobody was paid. `returned`: came back after it was completed. `canceled`: by you, before it left.',
});

export const CreatePayment = Type.Object(
  {
    amount: Amount,
    currency: Currency,
    source: MethodReference,
    destination: MethodReference,
    rail: Type.Optional(RailChoice),
    routing: Type.Optional(
      Type.Object(
        {
          prefer: Type.Optional(Prefer),
          fallback: Type.Optional(
            Type.Boolean({
              description: 'Whether ACH may take over when RTP definitely refuses; true with `auto`.',
            }),
          ),
        },
        { ...closed, title: 'Routing' },
      ),
    ),
    description: Type.Optional(
      Type.String({ maxLength: DESCRIPTION_LENGTH_MAX, description: 'What it is for, in your words.' }),
    ),
    metadata: Type.Optional(stringMap({ ...METADATA_LIMITS, description: 'Your own pairs of text.' })),
  },
  {
    ...closed,
    title: 'CreatePayment',
    examples: [
      {
        amount: 1000,
        currency: 'USD',
        source: { payment_method_id: 'pm_alice' },
        destination: { payment_method_id: 'pm_bob' },
        rail: 'auto',
        metadata: { order: '1042' },
      },
    ],
  },
);
export type CreatePaymentBody = Type.Static<typeof CreatePayment>;

const Description = Type.String({ maxLength: DESCRIPTION_LENGTH_MAX });
const Metadata = stringMap({ ...METADATA_LIMITS, description: 'Your own pairs of text.' });

export const RefundBody = Type.Object(
  {
    amount: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Minor units; all that is left when absent.',
        examples: [500],
      }),
    ),
    description: Type.Optional(Description),
    metadata: Type.Optional(Metadata),
  },
  { ...closed, title: 'CreateRefund' },
);

const Money = Type.Object(
  { amount: Type.Integer({ description: 'Minor units: 1000 is 10.00 USD.' }), currency: Type.String() },
  { title: 'Money' },
);
const Candidate = Type.Object(
  {
    rail: RailSchema,
    possible: Type.Boolean(),
    reasons: Type.Array(Type.String(), { description: 'Why it is not possible.' }),
    fee: nullable(Money),
    settles_at: nullable(Timestamp),
    score: nullable(
      Type.Number({ description: 'Cents, the cost of the delay included; the lowest wins when balanced.' }),
    ),
  },
  { title: 'RailCandidate' },
);
const Decision = Type.Object(
  { prefer: Prefer, chosen: RailSchema, candidates: Type.Array(Candidate) },
  { title: 'RailDecision', description: 'Which rails were looked at, and why one was chosen.' },
);
const Attempt = Type.Object(
  {
    id: Type.String(),
    rail: RailSchema,
    status: oneOfStrings(
      ['waiting', 'submitted', 'settled', 'rejected', 'returned', 'unknown'],
      '`unknown`: the network did not answer in time, and is being asked; it is never paid a second way.',
    ),
    network_reference: nullable(Type.String({ description: 'By which the network knows it.' })),
    submitted_at: nullable(Timestamp),
    settled_at: nullable(Timestamp),
    code: nullable(Type.String({ description: "The network's code, where it refused or returned it." })),
    detail: nullable(Type.String()),
  },
  { title: 'PaymentAttempt', description: 'One try on one rail.' },
);
const TimelineEntry = Type.Object({ status: Status, timestamp: Timestamp }, { title: 'TimelineEntry' });
const Failure = Type.Object(
  {
    code: Type.String(),
    network_code: nullable(Type.String({ description: 'For example `AC04` or `R01`.' })),
    detail: Type.String(),
  },
  { title: 'PaymentFailure', description: 'Why the payment failed or came back.' },
);

export const PaymentSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('payment'),
    mode: ModeSchema,
    status: Status,
    amount: Type.Integer({ description: 'Minor units: 1000 is 10.00 USD.' }),
    currency: Type.String(),
    source: MethodReference,
    destination: MethodReference,
    rail: RailChoice,
    rail_selected: RailSchema,
    rail_decision: Decision,
    attempts: Type.Array(Attempt),
    timeline: Type.Array(TimelineEntry, { description: 'Every state it entered, in order.' }),
    failure: nullable(Failure),
    fee: Money,
    refund_of: nullable(Type.String({ description: 'The payment that this one gives back.' })),
    refunded_amount: Type.Integer({ description: 'What refunds that did not fail take back of it.' }),
    description: nullable(Type.String()),
    metadata: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
    estimated_settlement_at: Timestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Payment', description: 'An order to move money.', examples: [paymentExample] },
);

export const QuoteSchema = Type.Object(
  {
    object: Type.Literal('quote'),
    amount: Type.Integer(),
    currency: Type.String(),
    rail_selected: RailSchema,
    fee: Money,
    estimated_settlement_at: Timestamp,
    rail_decision: Decision,
  },
  { title: 'Quote', description: 'What a payment would do now.', examples: [quoteExample] },
);

export const PaymentList = objectListSchema(PaymentSchema);

export const paymentFilters = {
  status: Type.Optional(Status),
  rail: Type.Optional(oneOfStrings(RAIL_IDS, 'The rail that was selected.')),
  payment_method: Type.Optional(
    Type.String({ maxLength: METHOD_ID_LENGTH_MAX, description: 'On either side.', examples: ['pm_alice'] }),
  ),
  created_after: Type.Optional(
    momentText({ description: 'ISO 8601, inclusive.', examples: ['2026-11-01T00:00:00Z'] }),
  ),
  created_before: Type.Optional(
    momentText({ description: 'ISO 8601, exclusive.', examples: ['2036-11-01T00:00:00Z'] }),
  ),
  id_prefix: Type.Optional(
    Type.String({
      pattern: '^pay_[0-9a-z]{0,60}$',
      description: 'Payments whose id begins with this.',
      examples: ['pay_01k'],
    }),
  ),
  refund_of: Type.Optional(
    Type.String({
      maxLength: PAYMENT_ID_LENGTH_MAX,
      description: 'The refunds of this payment.',
      examples: [paymentExample.id],
    }),
  ),
};

/** `metadata[key]=value`: a family of parameters, which a hook takes before the schema sees the query. */
export const metadataParameter = {
  name: 'metadata',
  in: 'query',
  required: false,
  description: 'Payments with these pairs: `metadata[order]=1042`. At most ten.',
  style: 'deepObject',
  explode: true,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  example: { order: '1042' },
} as const;
