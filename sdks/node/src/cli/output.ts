import type { Event } from '../event-types.ts';
import type { Payment } from '../types.ts';

type Cell = string | number | null | undefined;

/** Columns as wide as their widest cell; the last one is not padded. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => printable(cell)))];
  const widths = head.map((_name, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))),
    )
    .map((row) => row.join('  ').trimEnd())
    .join('\n');
}

export function fields(pairs: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`)
    .join('\n');
}

/** Text of others must not move the cursor or colour the terminal. */
export function printable(cell: Cell): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out.
  return String(cell ?? '').replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}

/** Minor units of a currency with two decimals, which is what the rails carry. */
export function money(amount: number, currency: string): string {
  const digits = String(Math.abs(amount)).padStart(3, '0');
  return `${amount < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)} ${currency.toUpperCase()}`;
}

export function paymentTable(payments: readonly Payment[]): string {
  if (payments.length === 0) return 'No payments.';
  return table(
    ['ID', 'STATUS', 'AMOUNT', 'RAIL', 'FROM', 'TO', 'CREATED'],
    payments.map((payment) => [
      payment.id,
      payment.status,
      money(payment.amount, payment.currency),
      payment.rail_selected,
      payment.source.payment_method_id,
      payment.destination.payment_method_id,
      payment.created_at,
    ]),
  );
}

export function paymentFields(payment: Payment): string {
  return fields([
    ['id', payment.id],
    ['status', payment.status],
    ['amount', money(payment.amount, payment.currency)],
    ['from', payment.source.payment_method_id],
    ['to', payment.destination.payment_method_id],
    ['rail', payment.rail_selected],
    ['fee', money(payment.fee.amount, payment.fee.currency)],
    ['settles', payment.estimated_settlement_at],
    ['failure', payment.failure === null ? null : `${payment.failure.code}: ${payment.failure.detail}`],
    ['refund of', payment.refund_of],
    ['refunded', payment.refunded_amount > 0 ? money(payment.refunded_amount, payment.currency) : null],
    ['description', payment.description],
    ['created', payment.created_at],
    ['timeline', payment.timeline.map(({ status, timestamp }) => `${status} ${timestamp}`).join(', ')],
  ]);
}

export function eventLine(event: Event): string {
  const subject = (event.data as { id?: string }).id;
  return [event.timestamp, event.type.padEnd(22), event.id, subject].map(printable).join('  ').trimEnd();
}

export function eventTable(events: readonly Event[]): string {
  if (events.length === 0) return 'No events.';
  return table(
    ['ID', 'TYPE', 'OBJECT', 'TIME'],
    events.map((event) => [event.id, event.type, (event.data as { id?: string }).id, event.timestamp]),
  );
}
