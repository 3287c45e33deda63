export interface Plan {
  id: string;
  name: string;
  price_cents: number;
  included_calls: number;
  overage_cents_per_1000: number;
  hard_stop: boolean;
}

/** Such a cap stops what a plan would cost beyond its price, and not the price. */
export const isCapBelow = ({ spend_cap_cents: cap }: { spend_cap_cents: number | null }, plan: Plan) =>
  cap !== null && cap < plan.price_cents;

export interface Invoice {
  id: string;
  customer_id: string;
  number: string;
  period: string;
  status: string;
  currency: string;
  lines: { description: string; quantity: number; amount_cents: number }[];
  total_cents: number;
  bill_to: {
    name: string;
    email: string;
    company: string | null;
    address: string | null;
    tax_id: string | null;
  };
  payment: { reference: string; details: string[]; url: string | null } | null;
  issued_at: string;
  sent_at: string | null;
  paid_at: string | null;
}

export interface BillingDetails {
  company: string | null;
  address: string | null;
  tax_id: string | null;
  seller: { name: string; lines: string[]; tax_id: string | null };
  payment: { details: string[]; url: string | null };
}

interface PricedMonth {
  total_cents: number;
  lines: { description: string; quantity: number; amount_cents: number }[];
}

export interface PlanPreview {
  days_left: number;
  price_cents: number;
  now: PricedMonth;
  changed: PricedMonth;
}

export const INVOICE_COLORS: Record<string, string> = {
  paid: 'teal',
  sent: 'blue',
  open: 'gray',
  failed_to_send: 'orange',
  void: 'gray',
};

export const INVOICES_PATH = '/api/invoices';
export const DETAILS_PATH = '/api/billing-details';

const month = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `2026-10` in words. */
export const monthName = (period: string) => month.format(new Date(`${period}-01T00:00:00Z`));
