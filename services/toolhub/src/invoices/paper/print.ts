import type { Invoice } from '../invoice.ts';
import type { Seller } from '../parties.ts';

/** The library that draws and its parsed fonts take some 25 MB: they come with the first invoice, not with the start. */
export async function printInvoice(invoice: Invoice, seller: Seller): Promise<Buffer> {
  const { renderInvoice } = await import('./document.ts');
  return renderInvoice(invoice, seller);
}
