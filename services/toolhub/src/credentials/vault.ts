import { sealedColumn } from '@libs/rotation';
import type { Sealer } from '@libs/seal';
import type { CredentialKey } from './credential.ts';

/** Seals credentials so that a row opens only under the customer, platform and slot it was written for. */
export interface Vault {
  seal(key: CredentialKey, credential: unknown): Buffer;
  open(key: CredentialKey, sealed: Buffer): unknown;
}

/** As JSON no part of the context can pass for another, whatever an account is called. */
function contextOf({ customerId, platform, slot }: CredentialKey): string {
  return JSON.stringify(['credential', customerId, platform, slot]);
}

export const sealedCredentials = sealedColumn({
  table: 'credentials',
  column: 'sealed',
  key: { customer_id: 'text', platform: 'text', slot: 'text' },
  contextOf: (row) => contextOf({ customerId: row.customer_id, platform: row.platform, slot: row.slot }),
});

export function createVault(sealer: Sealer): Vault {
  return {
    seal: (key, credential) => sealer.seal(JSON.stringify(credential), contextOf(key)),
    open: (key, sealed) => JSON.parse(sealer.openText(sealed, contextOf(key))) as unknown,
  };
}
