import type { Queryable } from '@libs/db';
import { checkStoredKeys, describeMissingKeys, describeUnseenKeys } from '@libs/rotation';
import type { Logger } from '@libs/runtime';
import { createSealer } from '@libs/seal';
import type { Config } from '../config.ts';
import { sealedColumns } from './columns.ts';

const KEY_VARIABLE = 'TOOLHUB_ENCRYPTION_KEY';

export interface StartCheckDependencies {
  readonly config: Pick<Config, 'development' | 'secrets'>;
  readonly database: Queryable;
  readonly log: Pick<Logger, 'warn'>;
}

/** In production a wrong key stops the start: otherwise it shows when tools fail and webhooks cannot be signed. */
export async function checkKeysAtStart({ config, database, log }: StartCheckDependencies): Promise<void> {
  const { encryptionKeys, lostKeyIds } = config.secrets;
  const missing = await checkStoredKeys({
    ...{ database, sealer: createSealer({ keys: encryptionKeys }), columns: sealedColumns, lostKeyIds },
    onNotSeen: (error) => log.warn({ err: error }, describeUnseenKeys(KEY_VARIABLE)),
    refusesWrongKeys: !config.development,
    keyVariable: KEY_VARIABLE,
    keyFile: 'DATA_DIR/toolhub/encryption-key',
    lostVariable: 'TOOLHUB_LOST_ENCRYPTION_KEYS',
  });
  if (missing.length > 0) log.warn({ keys: missing }, describeMissingKeys(missing, KEY_VARIABLE));
}
