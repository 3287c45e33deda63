import { nextTurn } from '@libs/runtime';
import type { Invoice } from '../invoice.ts';
import type { Seller } from '../parties.ts';

/**
 * The library that draws and its parsed fonts take some 25 MB: they come with the first invoice, not with the start. A page takes
 * some 20 ms, so that those of a whole batch are not drawn in one go.
 */
export async function printInvoice(invoice: Invoice, seller: Seller): Promise<Buffer> {
  const { renderInvoice } = await import('./document.ts');
  await nextTurn();
  return renderInvoice(invoice, seller);
}
