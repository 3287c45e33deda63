import type { RailId } from '../routing/decision.ts';

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
