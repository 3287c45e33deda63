import { createRotationJob, describeTally } from '@libs/rotation';
import { sealedColumns } from '../rotation/columns.ts';
import type { Base, Part } from './base.ts';

/** Everything sealed comes under the newest key by itself, and the log says when the older ones may go. */
export function addRotation({ config, database, sealer, log, now }: Base): Part {
  const job = createRotationJob({
    ...{ database, sealer, now, columns: sealedColumns(sealer) },
    lostKeyIds: config.lostKeyIds,
    // As a warning, because the operator has something to do: remove a key, or find out who still needs it.
    onPass: (tally) =>
      log.warn(
        { keys: tally.underKey, resealed: tally.resealed, unreadable: tally.unreadable },
        describeTally(sealer, tally, 'PAYMENTS_ENCRYPTION_KEY'),
      ),
  });
  return { ...job, close: () => Promise.resolve() };
}
