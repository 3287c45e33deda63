import { queryClient, useObject } from '../api/client.ts';
import { mode } from '../api/mode.ts';
import { POLL_MS } from '../api/polling.ts';
import { SESSION_PATH } from '../api/shown-session.ts';
import type { Role, Session } from '../api/types.ts';

export function useSession() {
  return useObject<Session>(SESSION_PATH);
}

/** For the frame: what is decided elsewhere, by the link of a mail or by the operator, is asked for until it is. */
export function useFollowedSession() {
  return useObject<Session>(SESSION_PATH, {
    refetchMs: ({ user, organisation }) =>
      user.email_verified && organisation?.live_access !== 'requested' ? false : POLL_MS,
  });
}

/** After log-in, sign-up and a change of the organisation: whatever was read before belongs to somebody else. */
export function enterSession(session: Session): void {
  const others = {
    predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== SESSION_PATH,
  };
  void queryClient.cancelQueries();
  // Not emptied as a whole: what is on the page listens to the session that was there, and would not hear of this one.
  queryClient.setQueryData([SESSION_PATH, {}], session);
  queryClient.removeQueries({ ...others, type: 'inactive' });
  void queryClient.resetQueries(others);
}

/** After logging out on a page that stays: nothing that was read for the person who left is kept, and it learns that nobody is there. */
export async function leaveSession(): Promise<void> {
  await queryClient.cancelQueries();
  queryClient.removeQueries({ type: 'inactive' });
  await queryClient.resetQueries();
}

const writers: readonly Role[] = ['owner', 'developer'];

export interface Rights {
  /** Payments, methods, webhooks, keys, sandbox, in the mode that is shown: live only once that is approved. */
  write: boolean;
  /** The role would allow to write; live access is what is missing. */
  needsLiveAccess: boolean;
  /** Members, invitations, the organisation, live access. */
  manage: boolean;
  operate: boolean;
}

/** What role and mode allow. Pages leave out what one may not do; the API refuses it in any case. */
export function useRights(): Rights {
  const { data } = useSession();
  const role = data?.organisation?.role ?? 'viewer';
  const isWriter = writers.includes(role);
  const isOpen = mode === 'test' || data?.organisation?.live_access === 'approved';
  return {
    write: isWriter && isOpen,
    needsLiveAccess: isWriter && !isOpen,
    manage: role === 'owner',
    operate: data?.user.operator ?? false,
  };
}
