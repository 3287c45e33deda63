import type { SealedColumn } from '@libs/rotation';
import { sealedApprovals } from '../approvals/arguments.ts';
import { sealedServerClients } from '../connect/servers.ts';
import { sealedJourneys } from '../connect/service.ts';
import { sealedCredentials } from '../credentials/vault.ts';
import { sealedConnects } from '../oauth/service.ts';
import { sealedWebhookSecrets } from '../webhooks/secrets.ts';

/** Everything that is sealed; `tests/schema` holds it against the catalogue. */
export const sealedColumns: readonly SealedColumn[] = [
  sealedCredentials,
  sealedWebhookSecrets,
  sealedJourneys,
  sealedServerClients,
  sealedConnects,
  sealedApprovals,
];
