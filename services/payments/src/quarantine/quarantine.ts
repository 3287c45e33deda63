import type { RailId } from '../rails/rail-ids.ts';
import type { Mode } from '../tenant.ts';

/** Something from a network that could not be believed, and of which nothing was applied. */
export interface Quarantined {
  id: string;
  rail: RailId;
  /** In which it came; null where it was put aside by a version that did not keep it. */
  mode: Mode | null;
  reason: string;
  receivedAt: Date;
}

export const QUARANTINE_STATUSES = ['open', 'applied', 'dismissed'] as const;

/** What became of it. */
export interface Resolution {
  status: (typeof QUARANTINE_STATUSES)[number];
  resolvedAt: Date | null;
  /** The payment that it was applied to, or why it was dismissed. */
  resolution: string | null;
  /** The id of the person, or that it was done with the operator's token. */
  resolvedBy: string | null;
}

/** What was worked off is kept for a year and a month, so that a year's audit finds it. */
export const RESOLVED_KEPT_DAYS = 400;

export type ListedQuarantined = Quarantined & Resolution;

/** As it lies in the table. */
export type SealedQuarantined = Quarantined & { contentSealed: Buffer };

/** With the text exactly as it was received. */
export type WholeQuarantined = Quarantined & { content: string };

export interface QuarantineFilter {
  rail: RailId | null;
  mode: Mode | null;
  status: Resolution['status'] | null;
  before: { receivedAt: Date; id: string } | null;
  limit: number;
}
