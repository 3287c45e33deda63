import { toast } from '@libs/ui';
import { useEffect, useRef } from 'react';
import { queryClient } from '../api/client.ts';
import { SESSION_PATH } from '../api/shown-session.ts';
import type { Session } from '../api/types.ts';
import { texts } from '../texts.ts';

/** Another tab switched the organisation of this session: what is shown belongs to the other one and is read anew. */
export function useSwitchedElsewhere(session: Session | undefined): void {
  const shown = useRef(session?.organisation?.id);
  const organisation = session?.organisation;
  useEffect(() => {
    const before = shown.current;
    shown.current = organisation?.id;
    if (before === undefined || organisation?.id === before) return;
    void queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_PATH });
    toast.done(texts.account.switched(organisation?.name ?? texts.account.noOrganisation));
  }, [organisation?.id, organisation?.name]);
}
