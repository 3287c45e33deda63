import Type from 'typebox';
import { ModeSchema, nullable, oneOfStrings } from '../api-schema.ts';
import { RAIL_IDS } from '../rails/rail-ids.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import { DIFFERENCE_KINDS, type Difference, type ReconciliationReport } from './reconciliation.ts';
import type { Reconciliation } from './service.ts';

const Sum = Type.Object({ count: Type.Integer(), amount: Type.Integer() });
const Totals = Type.Object({ debits: Sum, credits: Sum, returns: Sum });

const DifferenceSchema = Type.Object({
  kind: oneOfStrings(DIFFERENCE_KINDS),
  reference: nullable(Type.String()),
  tenant_id: nullable(Type.String()),
  payment_id: nullable(Type.String()),
  ours: nullable(Type.String()),
  theirs: nullable(Type.String()),
});

const Report = Type.Object(
  {
    object: Type.Literal('reconciliation'),
    day: Type.String({ format: 'date' }),
    rail: oneOfStrings(RAIL_IDS),
    mode: ModeSchema,
    agrees: Type.Boolean(),
    ours: Totals,
    network: nullable(Totals),
    ledger: Type.Object({ posted: Sum, reversed: Sum }),
    differences: Type.Array(DifferenceSchema),
    difference_count: Type.Integer({ description: 'Also counts those that are not listed.' }),
  },
  { title: 'Reconciliation' },
);

const Query = Type.Object(
  { day: Type.String({ format: 'date', description: 'A day in New York.' }) },
  { additionalProperties: false },
);

export function registerReconciliationRoutes(routes: PaymentsRoutes, reconciliation: Reconciliation): void {
  routes.get(
    '/v1/admin/reconciliation',
    {
      access: 'operator',
      rate: 'none',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.reconciliation',
        summary: 'Compare a day of the rails with the ledger',
        tags: ['Admin'],
        querystring: Query,
        response: {
          200: Type.Object({
            object: Type.Literal('list'),
            data: Type.Array(Report),
            next_cursor: Type.Null(),
          }),
        },
      },
    },
    async ({ query }) => {
      const reports = await reconciliation.reportsOf(query.day);
      return { object: 'list' as const, data: reports.map(toApi), next_cursor: null };
    },
  );
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
