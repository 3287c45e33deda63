import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { mode, modeAt } from '../api/mode.ts';
import type { Session } from '../api/types.ts';
import { enterSession } from './session.ts';

/** Leads back to where one was when the session ended, or to the start. */
export function useEnter(): (session: Session) => Promise<void> {
  const { next } = useSearch({ strict: false }) as { next?: string };
  const navigate = useNavigate();
  const { history } = useRouter();
  return async (session) => {
    enterSession(session);
    // Only a path of this very program: a link in a mail must not lead elsewhere.
    if (next === undefined || !/^\/dashboard(\/(?!\/)|$|\?)/.test(next)) await navigate({ to: '/' });
    // Links in mails are of no mode: what was meant may be a page of the other one.
    else if (modeAt(next) !== mode) window.location.replace(next);
    else history.replace(next);
  };
}
