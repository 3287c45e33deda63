import { sealedColumn } from '@libs/rotation';
import type { Sealer } from '@libs/seal';

function contextOf(customerId: string): string {
  return `webhook_secret ${customerId}`;
}

export const sealedWebhookSecrets = sealedColumn({
  table: 'webhook_configs',
  column: 'secret_sealed',
  key: { customer_id: 'text' },
  contextOf: (row) => contextOf(row.customer_id),
});

/** Keeps a webhook's secret in an envelope that opens for its own customer alone. */
export function createSecretVault(sealer: Sealer) {
  return {
    seal: (customerId: string, secret: string): Buffer => sealer.seal(secret, contextOf(customerId)),
    open: (customerId: string, sealed: Buffer): string => sealer.openText(sealed, contextOf(customerId)),
  };
}

export type SecretVault = ReturnType<typeof createSecretVault>;
