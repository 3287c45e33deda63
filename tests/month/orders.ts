import type { Difference } from '../../services/payments/src/reconciliation/reconciliation.ts';

/** The payments of the simulated months: every kind there is, in a sequence that is the same in every run. */

/** Mulberry32: the same numbers in every run. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

const ACH_SIDES = [
  'pm_ordinary_1',
  'pm_ordinary_2',
  'pm_ordinary_3',
  'pm_ordinary_4',
  'balance',
  'pm_test_no_rtp',
  'pm_test_ach_return_r01',
  'pm_test_ach_return_r03',
  'pm_test_ach_return_once_r09',
  'pm_test_ach_late_return_r02',
  'pm_test_ach_late_return_r10',
  'pm_test_ach_noc_c01',
  'pm_test_ach_noc_c07',
] as const;
const RTP_SOURCES = ['pm_ordinary_1', 'pm_ordinary_2', 'balance'] as const;
const RTP_DESTINATIONS = [
  'pm_ordinary_3',
  'pm_ordinary_4',
  'pm_test_rtp_reject_ac04',
  'pm_test_rtp_timeout',
  'pm_test_rtp_timeout_reject_ac04',
] as const;

export interface Order {
  rail: 'ach' | 'rtp' | 'auto';
  prefer: 'balanced' | 'speed' | 'cost';
  /** `balance` stands for one of the organisation's balances. */
  source: string;
  destination: string;
  amount: number;
  description: string | null;
  isCanceled: boolean;
}

const SHARES = { ach: 0.6, rtp: 0.25, rerouted: 0.05 } as const;
const SOMETIMES_CANCELED = 0.06;
const SOMETIMES_LARGE = 0.02;

export function nextOrder(random: () => number): Order {
  const kind = random();
  const order = {
    amount: 1 + Math.floor(random() * (random() < SOMETIMES_LARGE ? 2_000_000_00 : 20_000_00)),
    description: random() < 0.5 ? null : 'Rent – März',
    prefer: pick(random, ['balanced', 'speed', 'cost'] as const),
    isCanceled: false,
  };
  if (kind < SHARES.ach) {
    const source = pick(random, ACH_SIDES);
    const others = ACH_SIDES.filter((side) => side !== source);
    const isCanceled = random() < SOMETIMES_CANCELED;
    return { ...order, rail: 'ach', source, destination: pick(random, others), isCanceled };
  }
  if (kind < SHARES.ach + SHARES.rtp) {
    const [source, destination] = [pick(random, RTP_SOURCES), pick(random, RTP_DESTINATIONS)];
    return { ...order, rail: 'rtp', source, destination };
  }
  if (kind < SHARES.ach + SHARES.rtp + SHARES.rerouted) {
    const ends = { source: pick(random, RTP_SOURCES), destination: 'pm_test_rtp_reject_rc04' };
    return { ...order, ...ends, rail: 'auto', prefer: 'speed' };
  }
  return { ...order, rail: 'auto', source: 'balance', destination: 'another balance' };
}

/** What must become of a payment. */
export function expectedHistory({ source, destination, isCanceled }: Order): string {
  if (isCanceled) return 'pending > canceled';
  const is = (kind: string) => source.includes(kind) || destination.includes(kind);
  if (is('ach_return_r') || is('_reject_ac04')) return 'pending > processing > failed';
  if (is('late_return')) return 'pending > processing > completed > returned';
  return 'pending > processing > completed';
}

/** How the reconciliation must show that money was paid out which the source took back; null where none was. */
export function lossOf({ source, destination, isCanceled }: Order): Difference['kind'] | null {
  if (isCanceled || !source.includes('late_return') || destination === 'balance') return null;
  // What the destination's bank sends back is refunded, and such an account sends back refunds as well: all is here again.
  return destination.includes('return_r') ? null : 'paid_but_debit_returned';
}
