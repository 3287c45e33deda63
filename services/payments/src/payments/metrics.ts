import { isTransaction, type Queryable } from '@libs/db';
import { Counter, Histogram, type Metrics } from '@libs/runtime';
import type { Payment } from './payment.ts';

/** From an instant transfer to a debit whose time for returns is over. */
const STATE_BUCKETS_SECONDS = [0.1, 0.5, 1, 5, 20, 60, 600, 3_600, 21_600, 86_400, 259_200, 604_800];
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200];

export interface PaymentMetrics {
  /** Payments that were written together. */
  accepted(db: Queryable, payments: readonly Payment[]): void;
  /** Payments as they are after a move, and the state that it took them out of. */
  changed(tx: Queryable, moves: readonly { payment: Payment; movedFrom: Payment['status'] }[]): void;
}

type Labels = { rail: string; status: string; mode: string };

/** Counted when it has committed, and by the process that did it. */
export function createPaymentMetrics(metrics: Metrics): PaymentMetrics {
  const labelNames = ['rail', 'status', 'mode'];
  const moves = remembered(
    new Counter({
      name: 'payments_moves_total',
      help: 'Payments that came into a state, by rail, state and mode; pending are those that were accepted.',
      ...{ labelNames, registers: [metrics] },
    }),
  );
  const times = remembered(
    new Histogram({
      name: 'payments_state_seconds',
      help: "How long payments were in a state that they left, by rail, state and mode, in the organisation's time.",
      ...{ labelNames, registers: [metrics], buckets: STATE_BUCKETS_SECONDS },
    }),
  );
  const batches = new Histogram({
    name: 'payments_accept_batch_size',
    help: 'How many payments one statement accepted.',
    ...{ registers: [metrics], buckets: BATCH_BUCKETS },
  });

  return {
    accepted: (db, payments) =>
      afterCommit(db, () => {
        if (payments.length > 0) batches.observe(payments.length);
        for (const payment of payments) moves(labelsOf(payment, payment.status)).inc();
      }),
    changed: (tx, moved) =>
      afterCommit(tx, () => {
        for (const { payment, movedFrom } of moved) {
          moves(labelsOf(payment, payment.status)).inc();
          const [before, last] = payment.timeline.slice(-2);
          if (before && last)
            times(labelsOf(payment, movedFrom)).observe(
              (Date.parse(last.timestamp) - Date.parse(before.timestamp)) / 1000,
            );
        }
      }),
  };
}

function afterCommit(db: Queryable, work: () => void): void {
  if (isTransaction(db)) db.afterCommit(work);
  else work();
}

function labelsOf({ railSelected, mode }: Payment, status: Payment['status']): Labels {
  return { rail: railSelected, status, mode };
}

/** Series are looked up once, since hashing labels is costly; payments of one batch are mostly of one series. */
function remembered<Series>(metric: { labels(labels: Labels): Series }): (labels: Labels) => Series {
  const series = new Map<string, Series>();
  let last: { labels: Labels; series: Series } | undefined;
  return (labels) => {
    if (last && isSame(last.labels, labels)) return last.series;
    const key = `${labels.rail} ${labels.status} ${labels.mode}`;
    const known = series.get(key) ?? metric.labels(labels);
    series.set(key, known);
    last = { labels, series: known };
    return known;
  };
}

function isSame(one: Labels, other: Labels): boolean {
  return one.status === other.status && one.rail === other.rail && one.mode === other.mode;
}
