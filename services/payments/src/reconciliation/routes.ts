import { cursorCodec, listQuery, objectListPage } from '@libs/http';
import type { FieldError } from '@libs/runtime';
import Type, { type Static } from 'typebox';
import { ModeSchema, nullable, oneOfStrings, RailSchema, Timestamp } from '../api-schema.ts';
import { errors } from '../errors.ts';
import { NO_FIELDS, nameMoreParameters, type Unchecked } from '../more-fields.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import { DIFFERENCE_KINDS, type Difference, type ReconciliationReport } from './reconciliation.ts';
import type { Reconciliation } from './service.ts';
import { DIFFERENCE_STATUSES, type StoredDifference } from './stored-difference.ts';

const Sum = Type.Object({ count: Type.Integer(), amount: Type.Integer() });
const Totals = Type.Object({ debits: Sum, credits: Sum, returns: Sum });

const differenceFields = {
  kind: oneOfStrings(DIFFERENCE_KINDS),
  reference: nullable(Type.String()),
  tenant_id: nullable(Type.String()),
  payment_id: nullable(Type.String()),
  ours: nullable(Type.String()),
  theirs: nullable(Type.String()),
};

const Report = Type.Object(
  {
    object: Type.Literal('reconciliation'),
    day: Type.String({ format: 'date' }),
    rail: RailSchema,
    mode: ModeSchema,
    agrees: Type.Boolean(),
    ours: Totals,
    network: nullable(Totals),
    ledger: Type.Object({ posted: Sum, reversed: Sum }),
    differences: Type.Array(Type.Object(differenceFields)),
    difference_count: Type.Integer({ description: 'Also counts those that are not listed.' }),
  },
  { title: 'Reconciliation', description: 'One day of one rail, compared now.' },
);

const differenceExample = {
  id: 'rd_01kaf3v6w8q2m5x9t7c4b1n0ze',
  object: 'reconciliation_difference',
  status: 'open',
  rail: 'ach',
  mode: 'live',
  day: '2026-11-16',
  kind: DIFFERENCE_KINDS[0],
  reference: '091000010000001',
  tenant_id: 'org_01kaf3v6w8q2m5x9t7c4b1n0ze.live',
  payment_id: 'pay_01kaf3v6w8q2m5x9t7c4b1n0ze',
  ours: '1000',
  theirs: '1100',
  first_seen_at: '2026-11-17T06:00:00.000Z',
  last_seen_at: '2026-11-17T06:00:00.000Z',
  resolved_at: null,
};

const Stored = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('reconciliation_difference'),
    status: oneOfStrings(DIFFERENCE_STATUSES),
    rail: RailSchema,
    mode: ModeSchema,
    day: Type.String({ format: 'date', description: 'The earliest day on which it shows.' }),
    ...differenceFields,
    first_seen_at: Timestamp,
    last_seen_at: Timestamp,
    resolved_at: nullable(Timestamp),
  },
  {
    title: 'ReconciliationDifference',
    description: 'Where the books of a rail and the ledger differ.',
    examples: [differenceExample],
  },
);

const Query = listQuery({
  day: Type.Optional(
    Type.String({
      format: 'date',
      description: 'A day in New York, to be compared now. Without it: what the daily looks have found.',
    }),
  ),
  status: Type.Optional(oneOfStrings(DIFFERENCE_STATUSES)),
});

const cursor = cursorCodec(Type.Tuple([Type.Boolean(), Type.String({ maxLength: 64 })]));

export function registerReconciliationRoutes(routes: PaymentsRoutes, reconciliation: Reconciliation): void {
  routes.get(
    '/v1/admin/reconciliation',
    {
      access: 'operator',
      rate: 'operator',
      audit: 'none',
      idempotency: 'safe',
      errorHandler: nameMoreParameters(besideDay),
      schema: {
        operationId: 'admin.reconciliation',
        summary: 'List where the books of the rails and the ledger differ, or compare a day',
        description:
          'Without `day`: every difference that the daily looks have found, with when it was first and last seen and when it went away; those that stand come first. With `day`: that day of every rail, compared now.',
        tags: ['Admin'],
        querystring: Query,
        response: {
          200: Type.Object(
            {
              object: Type.Literal('list'),
              data: Type.Union([Type.Array(Stored), Type.Array(Report)]),
              next_cursor: nullable(Type.String()),
            },
            {
              title: 'ReconciliationList',
              examples: [{ object: 'list', data: [differenceExample], next_cursor: null }],
            },
          ),
        },
      },
    },
    async ({ query }) => {
      if (query.day === undefined) return await listStored(reconciliation, query);
      const beside = besideDay(query);
      if (beside.length > 0) throw errors.invalid_query({ errors: [...beside] });
      const reports = await reconciliation.reportsOf(query.day);
      return { object: 'list' as const, data: reports.map(toApi), next_cursor: null };
    },
  );
}

function listStored(reconciliation: Reconciliation, query: Static<typeof Query>) {
  return objectListPage(query, {
    cursor,
    async read({ from, limit }) {
      const after = from ? { isOpen: from[0], id: from[1] } : null;
      return (await reconciliation.list({ status: query.status ?? null, after, limit })).map(storedToApi);
    },
    positionOf: ({ status, id }) => [status === 'open', id],
    show: (item) => item,
  });
}

/** The answer for a day is whole: neither filter nor page applies to it. */
function besideDay({ day, status, cursor: from }: Unchecked): readonly FieldError[] {
  if (day === undefined) return NO_FIELDS;
  const given = Object.entries({ status, cursor: from }).filter(([, value]) => value !== undefined);
  return given.map(([parameter]) => ({ parameter, code: 'not_allowed', detail: 'Not together with day.' }));
}

function storedToApi(stored: StoredDifference) {
  const { tenantId, paymentId, firstSeenAt, lastSeenAt, resolvedAt, ...rest } = stored;
  return {
    object: 'reconciliation_difference' as const,
    ...rest,
    status: resolvedAt === null ? ('open' as const) : ('resolved' as const),
    tenant_id: tenantId,
    payment_id: paymentId,
    first_seen_at: firstSeenAt.toISOString(),
    last_seen_at: lastSeenAt.toISOString(),
    resolved_at: resolvedAt?.toISOString() ?? null,
  };
}

function toApi({ differenceCount, differences, ...report }: ReconciliationReport) {
  return {
    object: 'reconciliation' as const,
    ...report,
    differences: differences.map(differenceToApi),
    difference_count: differenceCount,
  };
}

function differenceToApi({ tenantId, paymentId, ...rest }: Difference) {
  return { ...rest, tenant_id: tenantId, payment_id: paymentId };
}
