import type { SealedColumn } from '@libs/rotation';
import type { Sealer } from '@libs/seal';
import { sealedAnswers } from '../idempotency/service.ts';
import { sealedAccounts } from '../payment-methods/account-vault.ts';
import { sealedQuarantine } from '../quarantine/service.ts';
import { sealedFiles } from '../rails/ach/work/context.ts';
import { sealedMessages } from '../rails/message-vault.ts';
import { sealedEndpointSecrets } from '../webhooks/secrets.ts';

/** Everything that is sealed; `tests/schema` holds it against the catalogue. */
export function sealedColumns(sealer: Pick<Sealer, 'fingerprint'>): readonly SealedColumn[] {
  return [
    sealedAccounts(sealer),
    sealedEndpointSecrets,
    sealedAnswers,
    ...sealedMessages,
    sealedQuarantine,
    ...sealedFiles,
  ];
}
