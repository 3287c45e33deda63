import type pg from 'pg';

/** A server could not be asked, or is slow to commit: what was committed last may not be seen there yet. */
export class CommitsUnsettled extends Error {
  override readonly name = 'CommitsUnsettled';
}

/**
 * When a server, or the way to it, is lost between its promise and the word that all is committed, nobody holds a lock
 * any more. Citus makes up for that once a minute; here it is asked to do so now, which costs a round trip to each server.
 * Of one that does not answer it only warns.
 */
export async function settleBy(client: pg.ClientBase): Promise<void> {
  const warnings: string[] = [];
  const onNotice = ({
    severity,
    message,
  }: {
    severity?: string | undefined;
    message?: string | undefined;
  }) => {
    if (severity === 'WARNING') warnings.push(message ?? 'no message');
  };
  client.on('notice', onNotice);
  try {
    await client.query('select recover_prepared_transactions()');
  } finally {
    client.off('notice', onNotice);
  }
  if (warnings.length > 0) throw new CommitsUnsettled(warnings.join('; '));
}

/** Calls that come while one is under way share the next, which begins after all of them. */
export function sharedNext(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  function start(): Promise<void> {
    const started = run().finally(() => {
      if (running === started) running = undefined;
    });
    running = started;
    return started;
  }
  return () => {
    if (running === undefined) return start();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}
