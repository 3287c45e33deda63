import { toast } from '@libs/ui';
import { useEffect, useRef } from 'react';
import { queryClient } from '../api/client.ts';
import { SESSION_PATH } from '../api/shown-session.ts';
import type { Session } from '../api/types.ts';
import { texts } from '../texts.ts';

/**
 * Another tab switched the organisation of this session, or logged in as somebody else: what is shown belongs to the other one
 * and is read anew.
 */
export function useSwitchedElsewhere(session: Session | undefined): void {
  const personId = session?.user.id;
  const organisationId = session?.organisation?.id;
  const shown = useRef({ personId, organisationId });
  const latest = useRef(session);
  latest.current = session;
  useEffect(() => {
    const before = shown.current;
    shown.current = { personId, organisationId };
    const isAnotherPerson = before.personId !== undefined && before.personId !== personId;
    const isElsewhere = before.organisationId !== undefined && before.organisationId !== organisationId;
    if (!(isAnotherPerson || isElsewhere)) return;
    void queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_PATH });
    const { user, organisation } = latest.current ?? {};
    toast.done(
      isAnotherPerson && user !== undefined
        ? texts.account.anotherPerson(user.name)
        : texts.account.switched(organisation?.name ?? texts.account.noOrganisation),
    );
  }, [personId, organisationId]);
}
