import type { Database } from '@libs/db';
import { cursorCodec, listQuery, objectListSchema, toPage } from '@libs/http';
import Type from 'typebox';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { ByMode } from '../tenant.ts';
import { accountsOf, checkLedger, entriesOf, feesOf } from './service.ts';

export interface LedgerRouteDependencies {
  databases: ByMode<Database>;
  now: () => Date;
}

const text = (value: string) => Type.Literal(value);
const Nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

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
    payment_method_id: Nullable(Type.String()),
    currency: Type.String(),
    posted: Type.Integer(),
    pending: Type.Integer({ description: 'Promised and not settled: what comes in less what goes out.' }),
    available: Type.Integer({ description: 'Posted, less what is promised to payments on their way.' }),
    owed: Type.Integer({ description: 'How far a return has taken the balance below zero.' }),
  },
  { title: 'LedgerAccount' },
);

const Entry = Type.Object(
  {
    id: Type.String(),
    object: text('ledger_entry'),
    transaction_id: Type.String(),
    payment_id: Nullable(Type.String()),
    account_id: Type.String(),
    direction: Type.Union([text('debit'), text('credit')]),
    amount: Type.Integer(),
    state: Type.Union([text('pending'), text('posted'), text('released')]),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'LedgerEntry' },
);

const Check = Type.Object(
  {
    object: text('ledger_check'),
    ok: Type.Boolean(),
    checks: Type.Array(Type.Object({ name: Type.String(), ok: Type.Boolean(), detail: Type.String() })),
    checked_at: Type.String({ format: 'date-time' }),
  },
  { title: 'LedgerCheck' },
);

const Fees = Type.Object(
  {
    object: text('fees'),
    month: Type.String(),
    currency: Type.String(),
    total: Type.Integer(),
    by_rail: Type.Array(
      Type.Object({ rail: Type.String(), payments: Type.Integer(), amount: Type.Integer() }),
    ),
  },
  { title: 'Fees' },
);

const accountCursor = cursorCodec(Type.Tuple([Type.String({ maxLength: 255 })]));
const entryCursor = cursorCodec(Type.Tuple([Type.String({ maxLength: 64 }), Type.String({ maxLength: 64 })]));

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
        tags: ['Ledger'],
        querystring: listQuery(),
        response: { 200: objectListSchema(Account) },
      },
    },
    async ({ query, caller }) => {
      const afterId = accountCursor.decode(query.cursor)?.[0] ?? null;
      const rows = await accountsOf(databases[caller.tenant.mode], caller.tenant, {
        afterId,
        limit: query.limit + 1,
      });
      const page = toPage(rows, { limit: query.limit, cursorOf: (last) => accountCursor.encode([last.id]) });
      return { object: 'list' as const, ...page };
    },
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
        tags: ['Ledger'],
        querystring: listQuery({
          payment_id: Type.Optional(Type.String({ maxLength: 255 })),
          account_id: Type.Optional(Type.String({ maxLength: 255 })),
        }),
        response: { 200: objectListSchema(Entry) },
      },
    },
    async ({ query, caller }) => {
      const rows = await entriesOf(databases[caller.tenant.mode], caller.tenant, {
        paymentId: query.payment_id ?? null,
        accountId: query.account_id ?? null,
        before: entryCursor.decode(query.cursor) ?? null,
        limit: query.limit + 1,
      });
      const page = toPage(rows, {
        limit: query.limit,
        cursorOf: (last) => entryCursor.encode([last.transaction_id, last.id]),
      });
      return { object: 'list' as const, ...page };
    },
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
        tags: ['Ledger'],
        querystring: Type.Object(
          {
            month: Type.String({
              pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$',
              description: 'A month of your calendar in UTC, for example 2026-11.',
            }),
          },
          { additionalProperties: false },
        ),
        response: { 200: Fees },
      },
    },
    ({ query, caller }) => feesOf(databases[caller.tenant.mode], caller.tenant, query.month),
  );

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
        tags: ['Ledger'],
        response: { 200: Check },
      },
    },
    ({ caller }) => checkLedger(databases[caller.tenant.mode], caller.tenant, now()),
  );
}
