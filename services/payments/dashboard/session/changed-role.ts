import { toast } from '@libs/ui';
import { useEffect, useRef } from 'react';
import type { Session } from '../api/types.ts';
import { texts } from '../texts.ts';

/** Somebody gave this person another role: a dialog that it does not allow goes, with the refusal that was said in it. */
export function useChangedRole(session: Session | undefined): void {
  const { id, role } = session?.organisation ?? {};
  const person = session?.user.id;
  const known = useRef({ person, id, role });
  useEffect(() => {
    const before = known.current;
    known.current = { person, id, role };
    if (role === undefined || before.role === role) return;
    // Somebody else, or elsewhere.
    if (before.id !== id || before.person !== person) return;
    toast.done(texts.account.roleChanged(texts.roles[role]));
  }, [person, id, role]);
}
