/**
 * The life of a payment: every move there is. Types, documentation and tests derive from this table, and a test holds
 * the checks in the database against it.
 */
export const moves = [
  { by: 'accepted', from: null, to: 'pending', money: 'hold' },
  { by: 'submitted', from: 'pending', to: 'processing', money: null },
  { by: 'canceled', from: 'pending', to: 'canceled', money: 'release' },
  { by: 'refused', from: 'pending', to: 'failed', money: 'release' },
  { by: 'refused', from: 'processing', to: 'failed', money: 'release' },
  { by: 'settled', from: 'processing', to: 'completed', money: 'post' },
  { by: 'returned', from: 'processing', to: 'failed', money: 'release' },
  { by: 'returned', from: 'completed', to: 'returned', money: 'reverse' },
] as const;

type Move = (typeof moves)[number];
export type MoveName = Move['by'];
export type PaymentStatus = Move['to'];
/** What a move does to the money: see the ledger. */
export type MoneyEffect = NonNullable<Move['money']>;

export const paymentStatuses: readonly PaymentStatus[] = [...new Set(moves.map((move) => move.to))];

export const finalStatuses: readonly PaymentStatus[] = paymentStatuses.filter(
  (status) => !moves.some((move) => move.from === status),
);

/** `completed` may still be returned, but nothing is on its way any more. */
export const openStatuses: readonly PaymentStatus[] = ['pending', 'processing'];

/** The move, or undefined where the state does not allow it: that is an answer, not an accident. */
export function nextMove(from: PaymentStatus | null, by: MoveName): Move | undefined {
  return moves.find((move) => move.from === from && move.by === by);
}

/**
 * Everything that a life can still come to from here. The database lets all of it through at once, because a
 * transaction may make several moves and write the row once.
 */
export function reachableFrom(status: PaymentStatus): PaymentStatus[] {
  const next = moves.filter((move) => move.from === status).map((move) => move.to);
  return [...new Set(next.flatMap((to) => [to, ...reachableFrom(to)]))];
}
