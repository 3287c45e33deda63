import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { enterAs, type Me } from './me.ts';

/** Addresses of the server itself that a log-in leads on to: the flow that connects an assistant, begun here or by its client, and the guides. */
const SERVER_PATHS = /^\/(oauth\/(connect-mcp$|login\?)|docs(?![^/?#]))/;

/** Leads back to where one was meant to go, or to the start. */
export function useEnter(): (me: Me) => Promise<void> {
  const { next } = useSearch({ strict: false }) as { next?: string };
  const navigate = useNavigate();
  const { history } = useRouter();
  return async (me) => {
    enterAs(me);
    if (next !== undefined && SERVER_PATHS.test(next)) window.location.assign(next);
    // Only a path of this very program: a link in a mail must not lead elsewhere.
    else if (next !== undefined && /^\/(?![/\\])/.test(next)) history.replace(next);
    else await navigate({ to: '/' });
  };
}
