import { Alert } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { connection } from '../api/connection.ts';
import { texts } from '../texts.ts';

/** Stays until the server answers again; then everything on the page is read anew. */
export function ConnectionBanner() {
  const lost = useSyncExternalStore(connection.subscribe, connection.isLost);
  return (
    <div role="status" aria-live="polite">
      {lost ? (
        <Alert color="orange" radius={0} py="xs">
          {texts.connectionLost}
        </Alert>
      ) : null}
    </div>
  );
}
