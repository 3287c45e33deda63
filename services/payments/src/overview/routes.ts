import type { FieldError } from '@libs/runtime';
import Type from 'typebox';
import { nullable, oneOfStrings, RailSchema, Timestamp } from '../api-schema.ts';
import { errors } from '../errors.ts';
import { findMoment, momentText, parseBorder } from '../moment.ts';
import { NO_FIELDS, nameMoreParameters, type Unchecked } from '../more-fields.ts';
import { paymentStatuses } from '../payments/states.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Overviews, OverviewWithAttention } from './service.ts';

const DAYS_DEFAULT = 7;
const DAYS_MAX = 366;
const DAY_MS = 86_400_000;

const twoTimes = {
  parameter: 'days',
  code: 'conflict',
  detail: 'Stands instead of `from` and `to`, not beside them.',
};

const outOfRange = {
  parameter: 'from',
  code: 'out_of_range',
  detail: `Must be before \`to\`, by at most ${DAYS_MAX} days.`,
};

const count = {
  payments: Type.Integer(),
  amount: Type.Integer({ description: 'In minor units of the currency.' }),
};

const OverviewSchema = Type.Object(
  {
    object: Type.Literal('overview'),
    from: Timestamp,
    to: Timestamp,
    currency: Type.String(),
    payments: Type.Integer({ description: 'Accepted in this time.' }),
    volume: Type.Integer({ description: 'The amount of those that completed.' }),
    success_rate: nullable(
      Type.Number({ description: 'Completed, of those that completed, failed or were returned.' }),
    ),
    settle_seconds_median: nullable(Type.Number({ description: 'To within a tenth.' })),
    settle_seconds_p95: nullable(Type.Number()),
    by_status: Type.Array(
      Type.Object({ status: oneOfStrings(paymentStatuses as readonly string[]), ...count }),
    ),
    by_rail: Type.Array(Type.Object({ rail: RailSchema, ...count })),
    by_day: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), ...count }), {
      description: 'Days of UTC by the organisation’s time; the amount is what completed.',
    }),
    attention: Type.Object({
      failed_deliveries: Type.Integer({
        description: 'Webhooks that were given up; at most 1,000 are counted.',
      }),
      disabled_endpoints: Type.Integer(),
      returned_payments: Type.Integer(),
      failed_payments: Type.Integer(),
      owed: Type.Integer({ description: 'What late returns left missing, now.' }),
    }),
  },
  { title: 'Overview' },
);

export function registerOverviewRoutes(
  routes: PaymentsRoutes,
  { overviews, now }: { overviews: Overviews; now: () => Date },
): void {
  routes.get(
    '/v1/overview',
    {
      access: 'viewer',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      errorHandler: nameMoreParameters((query) => badTimes(query, now())),
      schema: {
        operationId: 'overview.get',
        tags: ['Overview'],
        summary: 'The figures of a time',
        description: `Of payments that were accepted between \`from\` and \`to\`, in whole hours; the last ${DAYS_DEFAULT} days where they are missing, at most ${DAYS_MAX} days. Or of the last \`days\` days of UTC, today included, by the organisation’s own time.`,
        querystring: Type.Object(
          {
            from: Type.Optional(momentText()),
            to: Type.Optional(momentText()),
            days: Type.Optional(
              Type.Integer({ minimum: 1, maximum: DAYS_MAX, description: 'Instead of `from` and `to`.' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: OverviewSchema },
      },
    },
    async ({ caller, query }) => {
      const at = now();
      const bad = badTimes(query, at);
      if (bad.length > 0) throw errors.invalid_query({ errors: [...bad] });
      if (query.days !== undefined) return toApi(await overviews.of(caller.tenant, { days: query.days }));
      return toApi(await overviews.of(caller.tenant, spanOf(query, at)));
    },
  );
}

/** Both moments are such as the schema lets through. */
function spanOf(
  given: { from?: string | undefined; to?: string | undefined },
  now: Date,
): { from: Date; to: Date } {
  const to = given.to === undefined ? now : parseBorder(given.to);
  const from =
    given.from === undefined
      ? new Date(Math.max(0, to.getTime() - DAYS_DEFAULT * DAY_MS))
      : parseBorder(given.from);
  return { from, to };
}

function badTimes({ days, from, to }: Unchecked, now: Date): readonly FieldError[] {
  if (days !== undefined) return from === undefined && to === undefined ? NO_FIELDS : [twoTimes];
  if (!isMomentOrMissing(from) || !isMomentOrMissing(to)) return NO_FIELDS;
  const span = spanOf({ from, to }, now);
  const spanDays = (span.to.getTime() - span.from.getTime()) / DAY_MS;
  return spanDays > 0 && spanDays <= DAYS_MAX ? NO_FIELDS : [outOfRange];
}

function isMomentOrMissing(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && findMoment(value) !== null);
}

function toApi({ span, attention, ...figures }: OverviewWithAttention) {
  const paymentsThat = (status: string) =>
    figures.byStatus.find((one) => one.status === status)?.payments ?? 0;
  return {
    object: 'overview' as const,
    from: span.from.toISOString(),
    to: span.to.toISOString(),
    currency: 'USD',
    payments: figures.payments,
    volume: figures.volume,
    success_rate: figures.successRate,
    settle_seconds_median: figures.settleSecondsMedian,
    settle_seconds_p95: figures.settleSecondsP95,
    by_status: figures.byStatus,
    by_rail: figures.byRail,
    by_day: figures.byDay,
    attention: {
      failed_deliveries: attention.failedDeliveries,
      disabled_endpoints: attention.disabledEndpoints,
      returned_payments: paymentsThat('returned'),
      failed_payments: paymentsThat('failed'),
      owed: attention.owed,
    },
  };
}
