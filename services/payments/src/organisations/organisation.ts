import type { LiveAccess, Organisation } from '../keys/key.ts';

/** Whether people may make live keys, and what was said about it. */
export interface LiveAccessState {
  status: LiveAccess;
  /** What the organisation wrote with its request. */
  request: string | null;
  /** What the operator wrote with the answer. */
  reason: string | null;
  updatedAt: Date | null;
}

export type DescribedOrganisation = Pick<Organisation, 'id' | 'name' | 'createdAt'> & {
  liveAccess: LiveAccessState;
};
