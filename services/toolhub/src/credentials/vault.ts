import type { Sealer } from '@libs/seal';
import type { CredentialKey } from './credential.ts';

/** Seals credentials so that a row opens only under the customer, platform and slot it was written for. */
export interface Vault {
  seal(key: CredentialKey, credential: unknown): Buffer;
  open(key: CredentialKey, sealed: Buffer): unknown;
  needsReseal(sealed: Buffer): boolean;
}

export function createVault(sealer: Sealer): Vault {
  // As JSON no part of the context can pass for another, whatever an account is called.
  const contextOf = ({ customerId, platform, slot }: CredentialKey) =>
    JSON.stringify(['credential', customerId, platform, slot]);
  return {
    seal: (key, credential) => sealer.seal(JSON.stringify(credential), contextOf(key)),
    open: (key, sealed) => JSON.parse(sealer.openText(sealed, contextOf(key))) as unknown,
    needsReseal: (sealed) => sealer.needsReseal(sealed),
  };
}
