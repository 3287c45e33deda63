export const INVOICE_STATUSES = ['open', 'sent', 'failed_to_send', 'paid', 'void'] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];
export type InvoiceEvent = 'mail_sent' | 'mail_failed' | 'pay' | 'void';

/**
 * The legal moves; what is not listed is refused. The mail of an invoice that is paid already, a total of zero above
 * all, still goes out and changes nothing. A mail that was under way when the invoice was voided changes nothing either.
 */
const moves: Record<InvoiceStatus, Partial<Record<InvoiceEvent, InvoiceStatus>>> = {
  open: { mail_sent: 'sent', mail_failed: 'failed_to_send', pay: 'paid', void: 'void' },
  failed_to_send: { mail_sent: 'sent', mail_failed: 'failed_to_send', pay: 'paid', void: 'void' },
  sent: { mail_sent: 'sent', mail_failed: 'sent', pay: 'paid', void: 'void' },
  paid: { mail_sent: 'paid', mail_failed: 'paid', pay: 'paid' },
  void: { mail_sent: 'void', mail_failed: 'void', void: 'void' },
};

/** Null when the move is not legal. */
export function next(status: InvoiceStatus, event: InvoiceEvent): InvoiceStatus | null {
  return moves[status][event] ?? null;
}

/** Nothing is owed for a total of zero. */
export function firstStatus(totalCents: number): InvoiceStatus {
  return totalCents === 0 ? 'paid' : 'open';
}
