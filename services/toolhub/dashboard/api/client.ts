import { createApi, createClient } from '@libs/ui';

/** Set by the router, which knows where one is. */
export const sessionOver = { lead: () => {} };

export const client = createClient({ headers: () => ({}), onUnauthenticated: () => sessionOver.lead() });

/** How often a page reads again by itself what changes without it. */
export const FOLLOW_MS = 5_000;

export const { queryClient, useObject, useList, refresh } = createApi(client);
