import { objectListSchema, stringMap } from '@libs/http';
import Type from 'typebox';
import { OUTSIDE_RAIL_IDS, RAIL_IDS } from '../rails/rail-ids.ts';
import { paymentStatuses } from './states.ts';

export const METHOD_ID_LENGTH_MAX = 255;
export const DESCRIPTION_LENGTH_MAX = 140;
export const METADATA_LIMITS = { pairsMax: 50, keyLengthMax: 40, valueLengthMax: 500 };

const Timestamp = Type.String({ format: 'date-time', description: 'UTC, with milliseconds.' });
const Nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const oneOf = <const Values extends readonly string[]>(values: Values, description?: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    description === undefined ? {} : { description },
  ) as unknown as Type.TUnsafe<Values[number]>;

const closed = { additionalProperties: false } as const;

const MethodReference = Type.Object(
  {
    payment_method_id: Type.String({
      minLength: 1,
      maxLength: METHOD_ID_LENGTH_MAX,
      description: 'In test mode, any id that begins with `pm_` works at its first use.',
    }),
  },
  closed,
);

const Amount = Type.Integer({ minimum: 1, description: 'Minor units: 1000 is 10.00 USD.', examples: [1000] });
const Currency = Type.String({
  pattern: '^[A-Za-z]{3}$',
  description: 'ISO 4217; the rails carry USD.',
  examples: ['USD'],
});
const RailChoice = oneOf(
  ['auto', ...OUTSIDE_RAIL_IDS],
  '`auto` lets the service choose; `rtp` is fast, `ach` is cheap.',
);
const Prefer = oneOf(['balanced', 'speed', 'cost']);

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
        closed,
      ),
    ),
    description: Type.Optional(Type.String({ maxLength: DESCRIPTION_LENGTH_MAX })),
    metadata: Type.Optional(stringMap({ ...METADATA_LIMITS, description: 'Your own pairs of text.' })),
  },
  closed,
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
  closed,
);

const Money = Type.Object({ amount: Type.Integer(), currency: Type.String() });
const Rail = oneOf(RAIL_IDS);
const Candidate = Type.Object({
  rail: Rail,
  possible: Type.Boolean(),
  reasons: Type.Array(Type.String(), { description: 'Why it is not possible.' }),
  fee: Nullable(Money),
  settles_at: Nullable(Timestamp),
  score: Nullable(
    Type.Number({ description: 'Cents, the cost of the delay included; the lowest wins when balanced.' }),
  ),
});
const Decision = Type.Object({ prefer: Prefer, chosen: Rail, candidates: Type.Array(Candidate) });

export const PaymentSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('payment'),
    mode: oneOf(['test', 'live']),
    status: oneOf(paymentStatuses),
    amount: Type.Integer(),
    currency: Type.String(),
    source: MethodReference,
    destination: MethodReference,
    rail: RailChoice,
    rail_selected: Rail,
    rail_decision: Decision,
    attempts: Type.Array(
      Type.Object({
        id: Type.String(),
        rail: Rail,
        status: oneOf(['waiting', 'submitted', 'settled', 'rejected', 'returned', 'unknown']),
        network_reference: Nullable(Type.String()),
        submitted_at: Nullable(Timestamp),
        settled_at: Nullable(Timestamp),
        code: Nullable(Type.String()),
        detail: Nullable(Type.String()),
      }),
    ),
    timeline: Type.Array(Type.Object({ status: oneOf(paymentStatuses), timestamp: Timestamp })),
    failure: Nullable(
      Type.Object({ code: Type.String(), network_code: Nullable(Type.String()), detail: Type.String() }),
    ),
    fee: Money,
    refund_of: Nullable(Type.String({ description: 'The payment that this one gives back.' })),
    refunded_amount: Type.Integer({ description: 'What refunds that did not fail take back of it.' }),
    description: Nullable(Type.String()),
    metadata: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
    estimated_settlement_at: Timestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Payment' },
);

export const QuoteSchema = Type.Object(
  {
    object: Type.Literal('quote'),
    amount: Type.Integer(),
    currency: Type.String(),
    rail_selected: Rail,
    fee: Money,
    estimated_settlement_at: Timestamp,
    rail_decision: Decision,
  },
  { title: 'Quote' },
);

export const PaymentList = objectListSchema(PaymentSchema);

export const paymentFilters = {
  status: Type.Optional(oneOf(paymentStatuses)),
  rail: Type.Optional(oneOf(RAIL_IDS, 'The rail that was selected.')),
  payment_method: Type.Optional(
    Type.String({ maxLength: METHOD_ID_LENGTH_MAX, description: 'On either side.' }),
  ),
  created_after: Type.Optional(Type.String({ description: 'ISO 8601, inclusive.' })),
  created_before: Type.Optional(Type.String({ description: 'ISO 8601, exclusive.' })),
};
