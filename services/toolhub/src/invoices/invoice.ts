import type { BillTo, Issuer } from './parties.ts';
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
  billTo: BillTo;
  /** Null for one that was made before it was kept: then it is today's. */
  issuer: Issuer | null;
  issuedAt: Date;
  sentAt: Date | null;
  paidAt: Date | null;
}

const NUMBER_DIGITS = 6;

/** `INV-000123`. */
export function formatNumber(number: number): string {
  return `INV-${String(number).padStart(NUMBER_DIGITS, '0')}`;
}

export function isOwed({ status, totalCents, paidAt }: Invoice): boolean {
  return status !== 'void' && totalCents > 0 && paidAt === null;
}
