import type { Database } from '@libs/db';
import { cursorCodec, listQuery, objectListPage, objectListSchema } from '@libs/http';
import Type from 'typebox';
import { ID_LENGTH_MAX, nullable, Timestamp } from '../api-schema.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { ByMode } from '../tenant.ts';
import { createFreshRuns } from './fresh-runs.ts';
import { checkLedger } from './proofs.ts';
import { accountsOf, entriesOf, feesOf } from './service.ts';
import { FEE_REVENUE, FEES_OWED, OUTSIDE_DESTINATIONS, OUTSIDE_SOURCES, OWED_PREFIX } from './transfer.ts';

export interface LedgerRouteDependencies {
  databases: ByMode<Database>;
  now: () => Date;
}

const text = (value: string) => Type.Literal(value);

const Account = Type.Object(
  {
    id: Type.String(),
    object: text('ledger_account'),
    type: Type.Union([
      text('balance'),
      text('outside'),
      text('fees_owed'),
      text('fee_revenue'),
      text('owed'),
    ]),
    payment_method_id: nullable(Type.String()),
    currency: Type.String(),
    posted: Type.Integer(),
    pending: Type.Integer({ description: 'Promised and not settled: what comes in less what goes out.' }),
    available: Type.Integer({ description: 'Posted, less what is promised to payments on their way.' }),
    owed: Type.Integer({ description: 'How far a return has taken the balance below zero.' }),
  },
  {
    title: 'LedgerAccount',
    description: 'Sums in minor units.',
    examples: [
      {
        id: 'pm_01kaf3v6w8q2m5x9t7c4b1n0ze',
        object: 'ledger_account',
        type: 'balance',
        payment_method_id: 'pm_01kaf3v6w8q2m5x9t7c4b1n0ze',
        currency: 'USD',
        posted: 50000,
        pending: -1000,
        available: 49000,
        owed: 0,
      },
    ],
  },
);

const Entry = Type.Object(
  {
    id: Type.String(),
    object: text('ledger_entry'),
    transaction_id: Type.String(),
    payment_id: nullable(Type.String()),
    account_id: Type.String(),
    direction: Type.Union([text('debit'), text('credit')]),
    amount: Type.Integer(),
    state: Type.Union([text('pending'), text('posted'), text('released')], {
      description:
        'Entries never change. `pending` promises an amount; a later entry of the payment, in the same direction, makes it so (`posted`) or takes the promise back (`released`). What is pending of an account are the promises that neither followed.',
    }),
    created_at: Timestamp,
  },
  {
    title: 'LedgerEntry',
    description: 'One side of a double entry; the other has the same `transaction_id`.',
    examples: [
      {
        id: 'le_01kaf3v6w8q2m5x9t7c4b1n0zed',
        object: 'ledger_entry',
        transaction_id: 'lt_01kaf3v6w8q2m5x9t7c4b1n0ze',
        payment_id: 'pay_01kaf3v6w8q2m5x9t7c4b1n0ze',
        account_id: 'pm_01kaf3v6w8q2m5x9t7c4b1n0ze',
        direction: 'debit',
        amount: 1000,
        state: 'pending',
        created_at: '2026-11-16T15:04:05.000Z',
      },
    ],
  },
);

const Check = Type.Object(
  {
    object: text('ledger_check'),
    ok: Type.Boolean(),
    checks: Type.Array(
      Type.Object(
        { name: Type.String(), ok: Type.Boolean(), detail: Type.String() },
        { title: 'LedgerCheckResult' },
      ),
    ),
    checked_at: Timestamp,
  },
  {
    title: 'LedgerCheck',
    examples: [
      {
        object: 'ledger_check',
        ok: true,
        checks: [{ name: 'entries_sum_to_zero', ok: true, detail: 'Nothing is wrong.' }],
        checked_at: '2026-11-16T15:04:05.000Z',
      },
    ],
  },
);

const Fees = Type.Object(
  {
    object: text('fees'),
    month: Type.String(),
    currency: Type.String(),
    total: Type.Integer(),
    by_rail: Type.Array(
      Type.Object(
        { rail: Type.String(), payments: Type.Integer(), amount: Type.Integer() },
        { title: 'RailFees' },
      ),
    ),
  },
  {
    title: 'Fees',
    examples: [
      {
        object: 'fees',
        month: '2026-11',
        currency: 'USD',
        total: 65,
        by_rail: [
          { rail: 'ach', payments: 1, amount: 20 },
          { rail: 'rtp', payments: 1, amount: 45 },
        ],
      },
    ],
  },
);

/** What is owed of an account is one of its own, under its id with a word before it. */
const ACCOUNT_ID_LENGTH_MAX = OWED_PREFIX.length + ID_LENGTH_MAX;
/** The cursor of another list is refused instead of leading nowhere. */
const accountCursor = cursorCodec(
  Type.Tuple([
    Type.String({
      maxLength: ACCOUNT_ID_LENGTH_MAX,
      pattern: `^(pm_|${OWED_PREFIX}|${OUTSIDE_SOURCES}$|${OUTSIDE_DESTINATIONS}$|${FEES_OWED}$|${FEE_REVENUE}$)`,
    }),
  ]),
);
const entryCursor = cursorCodec(
  Type.Tuple([Type.String({ pattern: '^lt_[!-~]{1,60}$' }), Type.String({ pattern: '^le_[!-~]{1,60}$' })]),
);

export function registerLedgerRoutes(
  routes: PaymentsRoutes,
  { databases, now }: LedgerRouteDependencies,
): void {
  routes.get(
    '/v1/ledger/accounts',
    {
      access: 'ledger:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'ledger.accounts',
        summary: 'List ledger accounts',
        description:
          'Balances, the sums of the world outside, and fees, each with what is posted and what is pending.',
        tags: ['Ledger'],
        querystring: listQuery(),
        response: { 200: objectListSchema(Account) },
      },
    },
    ({ query, caller: { tenant } }) =>
      objectListPage(query, {
        cursor: accountCursor,
        read: ({ from, limit }) =>
          accountsOf(databases[tenant.mode], tenant, { afterId: from?.[0] ?? null, limit, now: now() }),
        positionOf: ({ id }) => [id],
        show: (account) => account,
      }),
  );

  routes.get(
    '/v1/ledger/entries',
    {
      access: 'ledger:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'ledger.entries',
        summary: 'List ledger entries',
        description: 'Newest first; each transaction has a debit and a credit of the same amount.',
        tags: ['Ledger'],
        querystring: listQuery({
          payment_id: Type.Optional(
            Type.String({ maxLength: ID_LENGTH_MAX, description: 'Entries of one payment.' }),
          ),
          account_id: Type.Optional(
            Type.String({ maxLength: ACCOUNT_ID_LENGTH_MAX, description: 'Entries of one account.' }),
          ),
        }),
        response: { 200: objectListSchema(Entry) },
      },
    },
    ({ query, caller: { tenant } }) =>
      objectListPage(query, {
        cursor: entryCursor,
        read: ({ from = null, limit }) =>
          entriesOf(databases[tenant.mode], tenant, {
            ...{ paymentId: query.payment_id ?? null, accountId: query.account_id ?? null },
            ...{ before: from, limit },
          }),
        positionOf: ({ transaction_id, id }) => [transaction_id, id],
        show: (entry) => entry,
      }),
  );

  routes.get(
    '/v1/fees',
    {
      access: 'ledger:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'fees.get',
        summary: 'What the completed payments of a month cost',
        description: 'Fees are owed at completion; payments are not reduced by them.',
        tags: ['Ledger'],
        querystring: Type.Object(
          {
            month: Type.String({
              pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$',
              description: 'A month in UTC.',
              examples: ['2026-11'],
            }),
          },
          { additionalProperties: false },
        ),
        response: { 200: Fees },
      },
    },
    ({ query, caller }) =>
      feesOf(databases[caller.tenant.mode], caller.tenant, { month: query.month, now: now() }),
  );

  // A proof reads all books of a tenant: asked for by the dozen, it would keep everybody else from the database.
  const freshProof = createFreshRuns<Awaited<ReturnType<typeof checkLedger>>>();
  routes.get(
    '/v1/ledger/check',
    {
      access: 'ledger:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'ledger.check',
        summary: 'Prove the ledger',
        description:
          'Computes that all sums are zero, that balances match their entries, and that the entries of every payment match its state. For books of more than 100,000 transfers the answer is the last proof, of which a new one is made in the background; `checked_at` says when it was made, a day ago at most.',
        tags: ['Ledger'],
        response: { 200: Check },
      },
    },
    ({ caller: { tenant } }) =>
      freshProof(tenant.id, () => checkLedger(databases[tenant.mode], tenant, now())),
  );
}
