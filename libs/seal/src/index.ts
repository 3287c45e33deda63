export { ifReadable, isKeyMissing, SealError, type SealErrorCode, unlessLost } from './errors.ts';
export {
  createIdFactory,
  type IdFactoryOptions,
  idBorder,
  idBorderTimeMs,
  idTimeMs,
  type NewId,
  newId,
} from './ids.ts';
export {
  createSealer,
  parseKeyIds,
  parseSealKeys,
  SEAL_KEY_BYTES,
  type Sealer,
  type SealerOptions,
  type SealKeysResult,
} from './sealer.ts';
export { loadOrCreateSecretFile } from './secret-file.ts';
export { equalSecrets, hashToken, newToken, type RandomBytes } from './tokens.ts';
