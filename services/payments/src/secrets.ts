import { join } from 'node:path';
import { StartError } from '@libs/runtime';
import {
  createSealer,
  loadOrCreateSecretFile,
  newToken,
  parseSealKeys,
  type RandomBytes,
  SEAL_KEY_BYTES,
  type Sealer,
} from '@libs/seal';
import type { PaymentsConfig } from './config.ts';

const ENCRYPTION_KEY_FILE = 'payments-encryption-key';
const ADMIN_TOKEN_FILE = 'payments-admin-token';

export interface Secrets {
  sealer: Sealer;
  adminToken: string;
}

/** The operator's secrets, or ones that are made once and kept in the data folder. */
export async function loadSecrets(config: PaymentsConfig, randomBytes: RandomBytes): Promise<Secrets> {
  return {
    sealer: createSealer({ keys: await loadSealKeys(config, randomBytes) }),
    adminToken:
      config.adminToken ??
      (await loadOrCreateSecretFile(join(config.dataDir, ADMIN_TOKEN_FILE), () =>
        newToken('admin_', randomBytes),
      )),
  };
}

async function loadSealKeys(config: PaymentsConfig, randomBytes: RandomBytes): Promise<readonly Buffer[]> {
  if (config.encryptionKeys !== undefined) return config.encryptionKeys;
  const path = join(config.dataDir, ENCRYPTION_KEY_FILE);
  const text = await loadOrCreateSecretFile(path, () => randomBytes(SEAL_KEY_BYTES).toString('base64'));
  const parsed = parseSealKeys(text);
  if (parsed.ok) return parsed.keys;
  throw new StartError(`${path} is not an encryption key: ${parsed.detail}`);
}
