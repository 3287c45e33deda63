import type { PaymentStatus, Rail } from '../api/types.ts';

/** The figures of a time, counted by the service. */
export interface Overview {
  from: string;
  to: string;
  currency: string;
  payments: number;
  volume: number;
  success_rate: number | null;
  settle_seconds_median: number | null;
  by_status: { status: PaymentStatus; payments: number; amount: number }[];
  by_rail: { rail: Rail; payments: number; amount: number }[];
  by_day: { day: string; payments: number; amount: number }[];
  attention: {
    failed_deliveries: number;
    disabled_endpoints: number;
    returned_payments: number;
    failed_payments: number;
    owed: number;
  };
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `2.4 s`, `14 min`, `1.5 days`: what a person compares, not what a stop-watch shows. */
export function formatDuration(seconds: number): string {
  const show = (value: number) =>
    value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 });
  if (seconds < 1) return 'Under 1 s';
  if (seconds < MINUTE) return `${show(seconds)} s`;
  if (seconds < HOUR) return `${show(seconds / MINUTE)} min`;
  if (seconds < DAY) return `${show(seconds / HOUR)} h`;
  return `${show(seconds / DAY)} days`;
}
