import { isApiError, useReading } from '@libs/ui';
import { client, queryClient } from '../api/client.ts';

export const ME_PATH = '/api/me';

export interface Customer {
  id: string;
  email: string;
  email_verified: boolean;
  name: string;
  plan: string;
  created_at: string;
}

export interface Me {
  customer: Customer;
}

/** Null for a visitor, which is no error: the front page must not go blank whenever it is asked for again. */
export function useMe() {
  return useReading({
    queryKey: [ME_PATH, {}],
    queryFn: async ({ signal }): Promise<Me | null> => {
      const me = await readMe(signal);
      forgetAnother(me);
      return me;
    },
  });
}

async function readMe(signal: AbortSignal): Promise<Me | null> {
  try {
    return await client.get<Me>(ME_PATH, { signal });
  } catch (error) {
    if (isApiError(error) && error.status === 401) return null;
    throw error;
  }
}

const shownMe = () => queryClient.getQueryData<Me | null>([ME_PATH, {}]);

/** Another tab logged in as somebody else, or out: what this one has read is not theirs. */
function forgetAnother(me: Me | null): void {
  const shown = shownMe();
  if (shown === undefined || shown?.customer.id === me?.customer.id) return;
  void queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME_PATH });
}

/** A call was told that nobody is logged in: whoever the page is for is asked for again, unless that is what was asked. */
export function askWhoIsThere(): void {
  const queryKey = [ME_PATH, {}];
  if (queryClient.isFetching({ queryKey }) === 0) void queryClient.invalidateQueries({ queryKey });
}

/** After log-in and sign-up: whatever was read before belongs to somebody else. */
export function enterAs(me: Me): void {
  queryClient.clear();
  queryClient.setQueryData([ME_PATH, {}], me);
}
