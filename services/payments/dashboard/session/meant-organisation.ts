import { toast } from '@libs/ui';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { client } from '../api/client.ts';
import type { Session } from '../api/types.ts';
import { enterSession } from './session.ts';

/**
 * The link of a mail says of which organisation its page is (`?organisation=`): somebody of several may look at another one, where
 * there is no such page, or one of other keys. Whether the page still has to wait for that.
 */
export function useMeantOrganisation(session: Session | undefined): boolean {
  const search = useSearch({ strict: false }) as { organisation?: string };
  const navigate = useNavigate();
  const { organisation: meant, ...others } = search;
  const isKnown = session !== undefined;
  const isElsewhere =
    meant !== session?.organisation?.id && session?.organisations.some(({ id }) => id === meant) === true;
  useEffect(() => {
    if (!isKnown || meant === undefined) return;
    const arrive = () => void navigate({ to: '.', search: others as never, replace: true });
    if (!isElsewhere) return arrive();
    client
      .post<Session>('/v1/session/organisation', { organisation_id: meant })
      .then(enterSession)
      .catch((error: unknown) => {
        toast.problem(error);
        arrive();
      });
  }, [isKnown, meant, isElsewhere]);
  return meant !== undefined;
}
