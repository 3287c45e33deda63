import { sealedColumn } from '@libs/rotation';
import { ifReadable, SealError, type Sealer, unlessLost } from '@libs/seal';
import { parseTenantId } from '../tenant.ts';
import type { SigningSecret } from './endpoint.ts';
import type { EndpointKey } from './store.ts';

function contextOf({ tenantId, id }: EndpointKey): string {
  return `webhook_secrets ${tenantId} ${id}`;
}

export const sealedEndpointSecrets = sealedColumn({
  table: 'webhook_endpoints',
  column: 'secrets_sealed',
  key: { tenant_id: 'text', id: 'text' },
  contextOf: (row) => contextOf({ tenantId: row.tenant_id, id: row.id }),
});

/** Keeps an endpoint's secrets as one envelope, bound to that endpoint. */
export function createSecretVault(sealer: Sealer, lostKeyIds: readonly string[]) {
  function open(key: EndpointKey, sealed: Buffer): SigningSecret[] {
    const stored = JSON.parse(sealer.openText(sealed, contextOf(key))) as {
      secret: string;
      expiresAt: string | null;
    }[];
    return stored.map(({ secret, expiresAt }) => ({
      secret,
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
    }));
  }

  return {
    seal: (key: EndpointKey, secrets: readonly SigningSecret[]): Buffer =>
      sealer.seal(JSON.stringify(secrets), contextOf(key)),

    /**
     * For what writes them anew. None where the key of the envelope is lost for good: nothing is signed with them any more, and
     * a new secret helps. A sandbox waits for no key: whatever was done to it, it is reset.
     */
    openUnlessLost(key: EndpointKey, sealed: Buffer): SigningSecret[] {
      const read = () => open(key, sealed);
      const isTest = parseTenantId(key.tenantId).mode === 'test';
      return (isTest ? ifReadable(read) : unlessLost(lostKeyIds, read)) ?? [];
    },

    /** For what only reads them: none where they cannot be opened here. */
    openIfReadable(
      key: EndpointKey,
      sealed: Buffer,
      onUnreadable: (error: SealError) => void = () => undefined,
    ): SigningSecret[] {
      try {
        return open(key, sealed);
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        onUnreadable(error);
        return [];
      }
    },
  };
}

export type SecretVault = ReturnType<typeof createSecretVault>;
