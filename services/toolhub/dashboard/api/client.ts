import { createApi, createClient } from '@libs/ui';

/** Set by the router, which knows where one is. */
export const sessionOver = { lead: () => {} };

export const client = createClient({ headers: () => ({}), onUnauthenticated: () => sessionOver.lead() });

export const { queryClient, useObject, useList, refresh } = createApi(client);
