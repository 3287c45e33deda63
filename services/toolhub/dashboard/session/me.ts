import { queryClient, useObject } from '../api/client.ts';

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

export function useMe() {
  return useObject<Me>(ME_PATH);
}

/** After log-in and sign-up: whatever was read before belongs to somebody else. */
export function enterAs(me: Me): void {
  queryClient.clear();
  queryClient.setQueryData([ME_PATH, {}], me);
}
