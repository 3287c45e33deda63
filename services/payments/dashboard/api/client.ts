import { createApi, createClient } from '@libs/ui';
import { mode } from './mode.ts';

/** Set by the router, which knows where one is. */
export const sessionOver = { lead: () => {} };

export const client = createClient({
  headers: { 'payments-mode': mode },
  onUnauthenticated: () => sessionOver.lead(),
});

export const { queryClient, useObject, useList, refresh } = createApi(client);
