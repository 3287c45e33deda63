import type { Period } from './period.ts';
import type { InvoiceStatus } from './states.ts';

export interface InvoiceLine {
  /** Null for the price of the plan itself. */
  platform: string | null;
  description: string;
  quantity: number;
  amountCents: number;
}

export interface Invoice {
  customerId: string;
  id: string;
  /** In the one series of the platform, without a gap. */
  number: number;
  period: Period;
  status: InvoiceStatus;
  currency: string;
  lines: readonly InvoiceLine[];
  totalCents: number;
  /** Who it is for, as of the day it was issued. */
  billTo: { name: string; email: string };
  issuedAt: Date;
  sentAt: Date | null;
  paidAt: Date | null;
}

const NUMBER_DIGITS = 6;

/** `INV-000123`. */
export function formatNumber(number: number): string {
  return `INV-${String(number).padStart(NUMBER_DIGITS, '0')}`;
}
