import { queryClient, useObject } from '../api/client.ts';
import type { Role, Session } from '../api/types.ts';

export const SESSION_PATH = '/v1/session';

export function useSession() {
  return useObject<Session>(SESSION_PATH);
}

/** After log-in, sign-up and a change of the organisation: whatever was read before belongs to somebody else. */
export function enterSession(session: Session): void {
  queryClient.clear();
  queryClient.setQueryData([SESSION_PATH, {}], session);
}

const writers: readonly Role[] = ['owner', 'developer'];

export interface Rights {
  /** Payments, methods, webhooks, keys, sandbox. */
  write: boolean;
  /** Members, invitations, the organisation, live access. */
  manage: boolean;
  operate: boolean;
}

/** What the role allows. Pages leave out what one may not do; the API refuses it in any case. */
export function useRights(): Rights {
  const { data } = useSession();
  const role = data?.organisation?.role ?? 'viewer';
  return {
    write: writers.includes(role),
    manage: role === 'owner',
    operate: data?.user.operator ?? false,
  };
}
