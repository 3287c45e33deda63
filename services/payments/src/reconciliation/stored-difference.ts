import type { RailId } from '../rails/rail-ids.ts';
import type { Mode } from '../tenant.ts';
import type { DayQuery, Difference } from './reconciliation.ts';

export const DIFFERENCE_STATUSES = ['open', 'resolved'] as const;
export type DifferenceStatus = (typeof DIFFERENCE_STATUSES)[number];

/** A difference as long as it is known: the same one is one row, however often and on however many days it shows. */
export interface StoredDifference extends Difference {
  id: string;
  rail: RailId;
  mode: Mode;
  /** The earliest day on which it shows. */
  day: DayQuery['day'];
  firstSeenAt: Date;
  lastSeenAt: Date;
  resolvedAt: Date | null;
}

/** Of a stored difference that stands, as much as a look at a day needs. */
export type OpenDifference = Pick<StoredDifference, 'id' | 'kind'> & { subject: string };

export interface StoredFilter {
  status: DifferenceStatus | null;
  after: { isOpen: boolean; id: string } | null;
  limit: number;
}

/** What a difference is about, the same at every look; what the sides say of it may change. */
export function subjectOf({ reference, tenantId, paymentId }: Difference): string {
  return [reference, tenantId, paymentId].map((part) => part ?? '-').join(' ');
}

export function keyOfDifference(difference: Difference): string {
  return `${difference.kind} ${subjectOf(difference)}`;
}

/** Attempts of one payment may show the same thing. */
export function withoutRepeats(differences: readonly Difference[]): Difference[] {
  return [...new Map(differences.map((difference) => [keyOfDifference(difference), difference])).values()];
}

export interface ComparedWithStored {
  /** Seen for the first time, or again after it had gone away. */
  news: Difference[];
  standing: Difference[];
  /** Ids of those that went away. */
  gone: string[];
}

/** `isWhole`: all there are were listed, so that what is not among them is gone. */
export function compareWithStored(
  found: readonly Difference[],
  open: readonly OpenDifference[],
  { isWhole }: { isWhole: boolean },
): ComparedWithStored {
  const openKeys = new Set(open.map(({ kind, subject }) => `${kind} ${subject}`));
  const foundKeys = new Set(found.map(keyOfDifference));
  return {
    news: found.filter((difference) => !openKeys.has(keyOfDifference(difference))),
    standing: found.filter((difference) => openKeys.has(keyOfDifference(difference))),
    gone: open.filter((one) => isWhole && !foundKeys.has(`${one.kind} ${one.subject}`)).map(({ id }) => id),
  };
}
