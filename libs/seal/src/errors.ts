/** `malformed`: not an envelope. `unknown_key`: sealed by a key that is not configured. `refused`: changed, or another context. */
export type SealErrorCode =
  | 'bad_key'
  | 'malformed'
  | 'unknown_key'
  | 'refused'
  | 'bad_secret_file'
  | 'bad_prefix';

/** Never carries key material, plain text or the context's value. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly code: SealErrorCode;
  /** Of the key that would open it, where that is not configured. It is made of the key and tells nothing about it. */
  readonly keyId: string | null;

  constructor(code: SealErrorCode, message: string, options: ErrorOptions & { keyId?: string } = {}) {
    super(message, options);
    this.code = code;
    this.keyId = options.keyId ?? null;
  }
}

/** Whether this process merely lacks the key, which another one, or the same with other settings, has: later it may work. */
export function isKeyMissing(error: unknown): boolean {
  return error instanceof SealError && error.code === 'unknown_key';
}

/**
 * Undefined where the operator has given up the key that would open it. What only this process cannot open throws, so that
 * nobody takes it for absent and writes over it. For what is made anew in its place.
 */
export function unlessLost<Plain>(lostKeyIds: readonly string[], open: () => Plain): Plain | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof SealError && error.keyId !== null && lostKeyIds.includes(error.keyId))
      return undefined;
    throw error;
  }
}

/** Undefined where nothing opens it: its key is lost, or it was changed or moved. For what can be made anew or left out. */
export function ifReadable<Plain>(open: () => Plain): Plain | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
