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

function identityOf({ routingNumber, accountNumber }: PlainAccount): string {
  return `${routingNumber} ${accountNumber}`;
}

/** The only place that sees account numbers in the clear on their way into and out of the database. */
export function createAccountVault(sealer: Sealer) {
  const fingerprintContext = (tenantId: string) => `bank_account ${tenantId}`;
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
