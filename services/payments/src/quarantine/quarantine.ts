import type { RailId } from '../rails/rail-ids.ts';

/** Something from a network that could not be believed, and of which nothing was applied. */
export interface Quarantined {
  id: string;
  rail: RailId;
  reason: string;
  receivedAt: Date;
}

/** With the text exactly as it was received. */
export type WholeQuarantined = Quarantined & { content: string };

export interface QuarantineFilter {
  rail: RailId | null;
  before: { receivedAt: Date; id: string } | null;
  limit: number;
}
