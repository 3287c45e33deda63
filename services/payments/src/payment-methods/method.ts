import type { RailId } from '../rails/rail-ids.ts';
import { parseTenantId } from '../tenant.ts';

/** Who holds the accounts of test mode that come to be by their first use. */
export const TEST_HOLDER_NAME = 'Test Account';

export interface BankAccount {
  routingNumber: string;
  accountSealed: Buffer;
  last4: string;
  fingerprint: string;
  accountType: 'checking' | 'savings';
  holderName: string;
  holderType: 'individual' | 'business';
}

/** Where money comes from or goes to: a bank account outside, or a balance held here. */
export interface PaymentMethod {
  tenantId: string;
  id: string;
  type: 'bank_account' | 'balance';
  bank: BankAccount | null;
  railsSend: readonly RailId[];
  railsReceive: readonly RailId[];
  metadata: Readonly<Record<string, string>>;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
}

export interface MethodKey {
  tenantId: string;
  id: string;
}

/** What a balance holds, in minor units. */
export interface BalanceView {
  currency: string;
  posted: number;
  /** On its way in, less what is promised to payments on their way out. */
  pending: number;
  available: number;
  owed: number;
}

export const BALANCE_CURRENCY = 'USD';

export const emptyBalance: BalanceView = {
  currency: BALANCE_CURRENCY,
  posted: 0,
  pending: 0,
  available: 0,
  owed: 0,
};

/** What a notification of change puts right. */
export interface MethodCorrection {
  routingNumber?: string;
  accountNumber?: string;
  holderName?: string;
  accountType?: BankAccount['accountType'];
}

const SHOWN_CHARACTERS = 4;

export function last4Of(accountNumber: string): string {
  return accountNumber.slice(-SHOWN_CHARACTERS);
}

/** The payment method as the API and its events show it: never with the account number. */
export function methodToApi(method: PaymentMethod, balance: BalanceView | null = null) {
  const { bank } = method;
  return {
    id: method.id,
    object: 'payment_method' as const,
    mode: parseTenantId(method.tenantId).mode,
    type: method.type,
    rails: { send: [...method.railsSend], receive: [...method.railsReceive] },
    bank_account: bank && {
      routing_number: bank.routingNumber,
      last4: bank.last4,
      account_type: bank.accountType,
      holder_name: bank.holderName,
      holder_type: bank.holderType,
      fingerprint: bank.fingerprint,
    },
    balance,
    metadata: method.metadata,
    created_at: method.createdAt.toISOString(),
    updated_at: method.updatedAt.toISOString(),
  };
}

export interface ViewedMethod {
  method: PaymentMethod;
  balance: BalanceView | null;
  sortId: string;
}

export interface MethodFilter {
  type: string | null;
  fingerprint: string | null;
  beforeSortId: string | null;
  limit: number;
}
