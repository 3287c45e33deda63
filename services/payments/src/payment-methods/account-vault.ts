import { type SealedColumn, sealedColumn } from '@libs/rotation';
import type { Sealer } from '@libs/seal';
import { type BankAccount, last4Of, type MethodKey } from './method.ts';

interface PlainAccount {
  routingNumber: string;
  accountNumber: string;
  accountType: BankAccount['accountType'];
  holderName: string;
  holderType: BankAccount['holderType'];
}

/** Bound to its owner: an envelope that is moved to another method or tenant does not open. */
function contextOf({ tenantId, id }: MethodKey): string {
  return `account_number ${tenantId} ${id}`;
}

function identityOf({
  routingNumber,
  accountNumber,
}: Pick<PlainAccount, 'routingNumber' | 'accountNumber'>): string {
  return `${routingNumber} ${accountNumber}`;
}

function fingerprintContext(tenantId: string): string {
  return `bank_account ${tenantId}`;
}

/** For the rotation of keys: equal accounts get equal fingerprints again, of the newest key. */
export function sealedAccounts(sealer: Pick<Sealer, 'fingerprint'>): SealedColumn {
  return sealedColumn({
    table: 'payment_methods',
    column: 'account_sealed',
    key: { tenant_id: 'text', id: 'text' },
    contextOf: (row) => contextOf({ tenantId: row.tenant_id, id: row.id }),
    mark: {
      column: 'fingerprint',
      needs: ['routing_number'],
      of: (accountNumber, row) =>
        sealer.fingerprint(
          identityOf({ routingNumber: row.routing_number, accountNumber }),
          fingerprintContext(row.tenant_id),
        ),
    },
  });
}

/** The only place that sees account numbers in the clear on their way into and out of the database. */
export function createAccountVault(sealer: Sealer) {
  return {
    seal(key: MethodKey, account: PlainAccount): BankAccount {
      return {
        routingNumber: account.routingNumber,
        accountSealed: sealer.seal(account.accountNumber, contextOf(key)),
        last4: last4Of(account.accountNumber),
        fingerprint: sealer.fingerprint(identityOf(account), fingerprintContext(key.tenantId)),
        accountType: account.accountType,
        holderName: account.holderName,
        holderType: account.holderType,
      };
    },

    open(key: MethodKey, bank: BankAccount): string {
      return sealer.openText(bank.accountSealed, contextOf(key));
    },

    /** Of the same account under every sealing key, newest first; tenants cannot be compared with each other. */
    fingerprints(tenantId: string, account: PlainAccount): string[] {
      return sealer.fingerprints(identityOf(account), fingerprintContext(tenantId));
    },
  };
}
