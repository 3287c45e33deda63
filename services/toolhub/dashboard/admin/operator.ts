import { createApi, createClient } from '@libs/ui';
import { useSyncExternalStore } from 'react';

let token: string | undefined;
const listeners = new Set<() => void>();

/** The operator's token stays in the memory of this window: a reload asks for it again, and nothing can read it from a disk. */
export const operatorToken = {
  set(value: string | undefined): void {
    token = value;
    for (const listener of listeners) listener();
  },
  use: (): string | undefined =>
    useSyncExternalStore(
      (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      () => token,
    ),
};

const headers = () => ({ authorization: `Bearer ${token ?? ''}` });

/** Rejects with the words of the server where it is not the operator's. */
export function tryToken(tried: string): Promise<unknown> {
  const client = createClient({
    headers: () => ({ authorization: `Bearer ${tried}` }),
    onUnauthenticated: () => {},
  });
  return client.get('/api/admin/jobs');
}

export const operator = createClient({ headers, onUnauthenticated: () => operatorToken.set(undefined) });
export const { queryClient: operatorQueries, useObject, useList, refresh } = createApi(operator);
