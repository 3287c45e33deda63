import type { Queryable } from '@libs/db';
import type { RailId } from '../rails/rail-ids.ts';
import type { Mode } from '../tenant.ts';

export const MODES: readonly Mode[] = ['live', 'test'];

export const DIFFERENCE_KINDS = [
  'missing_in_network',
  'missing_here',
  'amount_differs',
  'state_differs',
  'settled_but_not_posted',
  'posted_but_not_settled',
  /** The destination has the money and the source took it back: nobody has it any more. */
  'paid_but_debit_returned',
  /** The source was paid back and took its money back as well. */
  'refunded_but_debit_returned',
  /** The source paid, the destination could not be paid, and the source could not be paid back. */
  'collected_but_not_refunded',
  /** The sandbox was told how the payment ends, beside the network. */
  'ended_by_order',
] as const;

export interface Difference {
  kind: (typeof DIFFERENCE_KINDS)[number];
  /** The network's, where the difference concerns one entry. */
  reference: string | null;
  tenantId: string | null;
  paymentId: string | null;
  ours: string | null;
  theirs: string | null;
}

export interface Sum {
  count: number;
  amount: number;
}

export interface SideTotals {
  debits: Sum;
  credits: Sum;
  returns: Sum;
}

/** What we sent over a rail on a day, against what the network has of it and what the ledger made of it. */
export interface ReconciliationReport {
  day: string;
  rail: RailId;
  mode: Mode;
  ours: SideTotals;
  /** Null where the network shows no books: a live one sends statements, which are not read. */
  network: SideTotals | null;
  ledger: { posted: Sum; reversed: Sum };
  agrees: boolean;
  differences: readonly Difference[];
  /** Also counts those that are not listed. */
  differenceCount: number;
}

/** A day of a network, with the instants between which it lies. */
export interface DayQuery {
  mode: Mode;
  /** YYYY-MM-DD in New York: of the file for ACH, of settlement for RTP. */
  day: string;
  from: Date;
  to: Date;
}

/** Which other days a rail is asked for, beside those that are looked at anyway. */
export interface AnsweredQuery {
  mode: Mode;
  /** Real time. */
  since: Date;
  /** Days before this one. */
  before: DayQuery['day'];
  limit: number;
}

export interface FoundDifferences {
  differences: readonly Difference[];
  /** Of all, also those that are not listed. */
  count: number;
}

/** What a rail can show of a day: its own side, the network's where that can be seen, and where the two part. */
export interface RailBooks {
  totals(db: Queryable, query: DayQuery): Promise<Pick<ReconciliationReport, 'ours' | 'network'>>;
  /** Entry by entry against the network, and payment by payment against the ledger; at most `limit` of each are listed. */
  differences(db: Queryable, query: DayQuery, limit: number): Promise<FoundDifferences[]>;
  /** Whether outcomes of that day may still come after the days that are looked at anyway. */
  isUnfinished(db: Queryable, query: DayQuery): Promise<boolean>;
  /** Older days of which an outcome changed since then, the latest first. */
  answeredDays(db: Queryable, query: AnsweredQuery): Promise<DayQuery['day'][]>;
}

/** A rail with books; the rails themselves are such. */
export interface ReconciledRail {
  readonly id: RailId;
  readonly books: RailBooks;
}
