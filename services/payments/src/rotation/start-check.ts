import type { Queryable } from '@libs/db';
import { checkStoredKeys, describeMissingKeys, describeUnseenKeys } from '@libs/rotation';
import type { Logger } from '@libs/runtime';
import type { Sealer } from '@libs/seal';
import type { PaymentsConfig } from '../config.ts';
import { sealedColumns } from './columns.ts';

const KEY_VARIABLE = 'PAYMENTS_ENCRYPTION_KEY';

export interface StartCheckDependencies {
  readonly config: Pick<PaymentsConfig, 'development' | 'lostKeyIds'>;
  readonly database: Queryable;
  readonly sealer: Sealer;
  readonly log: Pick<Logger, 'warn'>;
}

/** In production a wrong key stops the start: otherwise it shows when payments fail and webhooks cannot be signed. */
export async function checkKeysAtStart(dependencies: StartCheckDependencies): Promise<void> {
  const { config, database, sealer, log } = dependencies;
  const missing = await checkStoredKeys({
    ...{ database, sealer, columns: sealedColumns(sealer), lostKeyIds: config.lostKeyIds },
    onNotSeen: (error) => log.warn({ err: error }, describeUnseenKeys(KEY_VARIABLE)),
    refusesWrongKeys: !config.development,
    keyVariable: KEY_VARIABLE,
    keyFile: 'DATA_DIR/payments-encryption-key',
    lostVariable: 'PAYMENTS_LOST_ENCRYPTION_KEYS',
  });
  if (missing.length > 0) log.warn({ keys: missing }, describeMissingKeys(missing, KEY_VARIABLE));
}
