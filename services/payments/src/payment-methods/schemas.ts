import { stringMap } from '@libs/http';
import Type from 'typebox';
import { closed, ModeSchema, nullable, oneOfStrings, RailSchema, Timestamp } from '../api-schema.ts';
import { METADATA_LIMITS } from '../payments/schemas.ts';
import { isRoutingNumber } from '../rails/routing-number.ts';
import { ROUTING_NUMBER_FORMAT, registerFormat } from './routing-number-format.ts';

registerFormat(isRoutingNumber);

export const methodExample = {
  id: 'pm_alice',
  object: 'payment_method',
  mode: 'test',
  type: 'bank_account',
  rails: { send: ['rtp', 'ach'], receive: ['rtp', 'ach'] },
  bank_account: {
    routing_number: '021000021',
    last4: '6789',
    account_type: 'checking',
    holder_name: 'Alice Example',
    holder_type: 'individual',
    fingerprint: 'uy07RXI7DjKj0pY1KuR59VKjDoc5ZQoA7503LVCmeMs',
  },
  balance: null,
  metadata: {},
  created_at: '2026-11-16T15:04:05.000Z',
  updated_at: '2026-11-16T15:04:05.000Z',
} as const;

const HOLDER_NAME_LENGTH_MAX = 100;

const RoutingNumber = Type.String({
  format: ROUTING_NUMBER_FORMAT,
  'x-mismatch': 'Must be the nine digits of a routing number; the last one checks the others.',
  examples: ['021000021'],
});
const AccountType = oneOfStrings(['checking', 'savings']);
const HolderType = oneOfStrings(['individual', 'business']);
const Metadata = stringMap(METADATA_LIMITS);

const CreateBankAccount = Type.Object(
  {
    type: Type.Literal('bank_account'),
    bank_account: Type.Object(
      {
        routing_number: RoutingNumber,
        account_number: Type.String({
          pattern: '^[0-9A-Za-z-]{4,17}$',
          'x-mismatch': 'Must be 4 to 17 letters, digits or hyphens.',
          description: 'Sealed at once, and shown by its last four characters from then on.',
        }),
        account_type: AccountType,
        holder_name: Type.String({ pattern: '\\S', maxLength: HOLDER_NAME_LENGTH_MAX }),
        holder_type: HolderType,
      },
      { ...closed, title: 'NewBankAccount' },
    ),
    metadata: Type.Optional(Metadata),
  },
  { ...closed, title: 'CreatePaymentMethodBankAccount' },
);
const CreateBalance = Type.Object(
  { type: Type.Literal('balance'), metadata: Type.Optional(Metadata) },
  { ...closed, title: 'CreatePaymentMethodBalance' },
);
export const CreateMethod = Type.Union([CreateBankAccount, CreateBalance], {
  title: 'CreatePaymentMethod',
  examples: [
    {
      type: 'bank_account',
      bank_account: {
        routing_number: '021000021',
        account_number: '000123456789',
        account_type: 'checking',
        holder_name: 'Alice Example',
        holder_type: 'individual',
      },
    },
  ],
});

export const MethodSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('payment_method'),
    mode: ModeSchema,
    type: oneOfStrings(['bank_account', 'balance']),
    rails: Type.Object(
      { send: Type.Array(RailSchema), receive: Type.Array(RailSchema) },
      { title: 'MethodRails', description: 'The rails that it can send and receive on.' },
    ),
    bank_account: nullable(
      Type.Object(
        {
          routing_number: Type.String(),
          last4: Type.String(),
          account_type: AccountType,
          holder_name: Type.String(),
          holder_type: HolderType,
          fingerprint: Type.String({ description: 'The same for every payment method with this account.' }),
        },
        { title: 'BankAccount' },
      ),
    ),
    balance: nullable(
      Type.Object(
        {
          currency: Type.String(),
          posted: Type.Integer(),
          pending: Type.Integer(),
          available: Type.Integer(),
          owed: Type.Integer({ description: 'What a return took beyond what was there.' }),
        },
        { title: 'Balance', description: 'Money held here, in minor units.' },
      ),
    ),
    metadata: Metadata,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'PaymentMethod', description: 'Where money comes from or goes to.', examples: [methodExample] },
);
