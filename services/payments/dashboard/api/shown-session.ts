import type { QueryClient } from '@tanstack/react-query';
import type { Session } from './types.ts';

export const SESSION_PATH = '/v1/session';

/** Refusals that tell that another tab switched the organisation, or somebody changed what this person may do. */
export const roleChanged: ReadonlySet<string> = new Set([
  'organisation_switched',
  'no_organisation',
  'insufficient_role',
]);

/** Every call says for which organisation its page is, so that another tab's switch sends nothing to the wrong one. */
export function shownOrganisation(queryClient: QueryClient): Record<string, string> {
  const session = queryClient.getQueryData<Session>([SESSION_PATH, {}]);
  const id = session?.organisation?.id;
  return id === undefined ? {} : { 'payments-organisation': id };
}
