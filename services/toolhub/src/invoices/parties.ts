/** Who sends the invoice, as of the day it was issued. */
export interface Issuer {
  name: string;
  /** Lines below the name: an address of the post, of mail, of the web. */
  lines: readonly string[];
  taxId: string | null;
}

/** What the customer wants on its invoices; null where nothing was said. */
export interface BillingDetails {
  company: string | null;
  /** Lines of a postal address. */
  address: string | null;
  taxId: string | null;
}

/** Who it is for, as of the day it was issued. */
export interface BillTo extends BillingDetails {
  name: string;
  email: string;
}

export const NO_DETAILS: BillingDetails = { company: null, address: null, taxId: null };

/** How an invoice can be paid; what the operator set. */
export interface PaymentWays {
  /** Bank details, line by line. */
  details: readonly string[];
  /** A page to pay at. `{number}` and `{amount_cents}` stand for those of the invoice. */
  url: string | null;
}

/** Who runs the service, for its invoices. */
export interface Seller {
  issuer: Issuer;
  payment: PaymentWays;
}

const NAME = 'Toolhub';

/** Unless the operator says otherwise an invoice comes from the sender of the mail, as in its header. */
export function sellerOf(settings: {
  from: string;
  publicUrl: string;
  name: string | undefined;
  address: readonly string[];
  taxId: string | undefined;
  payment: PaymentWays;
}): Seller {
  const [, sender = '', mail = settings.from] = /^\s*(.*?)\s*<([^<>]+)>\s*$/.exec(settings.from) ?? [];
  return {
    issuer: {
      name: settings.name ?? (sender.replaceAll('"', '') || NAME),
      lines: [...settings.address, mail, settings.publicUrl],
      taxId: settings.taxId ?? null,
    },
    payment: settings.payment,
  };
}

/** The page to pay this invoice at. */
export function paymentUrl(
  { url }: PaymentWays,
  invoice: { number: string; amountCents: number },
): string | null {
  return (
    url
      ?.replaceAll('{number}', encodeURIComponent(invoice.number))
      .replaceAll('{amount_cents}', String(invoice.amountCents)) ?? null
  );
}

/** Lines as they are printed: without white space around them, and none that is empty. */
export function addressLines(address: string | null): string[] {
  return (address ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
