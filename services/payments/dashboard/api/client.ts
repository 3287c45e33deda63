import { createApi, createClient } from '@libs/ui';
import { mode } from './mode.ts';
import { roleChanged, SESSION_PATH, shownOrganisation } from './shown-session.ts';

/** Set by the router, which knows where one is. */
export const sessionOver = { lead: () => {} };

export const client = createClient({
  headers: () => ({ 'payments-mode': mode, ...shownOrganisation(queryClient) }),
  onUnauthenticated: () => sessionOver.lead(),
  onRefused: ({ code }) => {
    // What the page knows of the person is of yesterday: it learns the new state, and shows what that allows.
    if (roleChanged.has(code)) void refresh(SESSION_PATH);
  },
});

export const { queryClient, useObject, useList, refresh } = createApi(client);
