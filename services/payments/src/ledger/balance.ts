export interface Balance {
  tenantId: string;
  paymentMethodId: string;
  currency: string;
  posted: number;
  held: number;
  incoming: number;
  owed: number;
}

export interface BalanceKey {
  tenantId: string;
  paymentMethodId: string;
}
