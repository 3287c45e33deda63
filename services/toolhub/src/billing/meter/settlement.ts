import type { Queryable } from '@libs/db';
import { durationClass } from '../usage/durations.ts';
import type { SettledUnits, UsageCount } from './units.ts';

/** One call that may run: it is counted until it is settled, or until the process that holds it is gone. */
export interface Reservation {
  readonly customerId: string;
  readonly month: string;
  /** Where its call is counted, however late it ends: the invoice of a month has the calls of its limit. */
  readonly day: string;
  readonly holder: string;
}

export interface CallUsage {
  /** `internal` for sessions that belong to no customer. */
  customerId: string;
  /** Null for calls that no limit applies to. */
  reservation: Reservation | null;
  platform: string;
  tool: string;
  succeeded: boolean;
  /** Given back only when the call certainly did nothing; where nobody knows, it is kept. */
  unit: 'kept' | 'given_back';
  durationMs: number;
  alongside?: Alongside | undefined;
}

/** Something else that must commit together with the unit; what one writer gets from several calls goes in at once. */
export interface Alongside<Item = never> {
  item: Item;
  write(tx: Queryable, items: readonly Item[]): Promise<void>;
}

/** The end of a call, or of a reservation under which none ran. */
export type Settlement =
  | { kind: 'usage'; usage: CallUsage; day: string }
  | { kind: 'unused'; reservation: Reservation };

/** Whose calls began on an earlier day; in one order, because their settings are written. */
export function lateCustomers(items: readonly Settlement[], today: string): string[] {
  const late = items.flatMap((item) => {
    const reservation = item.kind === 'usage' ? item.usage.reservation : item.reservation;
    return reservation === null || reservation.day >= today ? [] : reservation.customerId;
  });
  return [...new Set(late)].sort();
}

export function customerOf(item: Settlement): string {
  return item.kind === 'usage' ? item.usage.customerId : item.reservation.customerId;
}

export function addUp(items: readonly Settlement[]): { settled: SettledUnits[]; usage: UsageCount[] } {
  const settled = new Map<string, SettledUnits>();
  const usage = new Map<string, UsageCount>();
  for (const item of items) {
    const reservation = item.kind === 'usage' ? item.usage.reservation : item.reservation;
    const kept = item.kind === 'usage' && item.usage.unit === 'kept';
    if (reservation !== null) addReservation(settled, reservation, kept);
    if (item.kind === 'usage') addUsage(usage, item.usage, item.day);
  }
  return { settled: [...settled.values()], usage: [...usage.values()] };
}

function addReservation(
  settled: Map<string, SettledUnits>,
  { customerId, month, holder }: Reservation,
  kept: boolean,
): void {
  const slot = `${customerId}\n${month}\n${holder}`;
  const sums = settled.get(slot) ?? { customerId, month, holder, kept: 0, returned: 0 };
  if (kept) sums.kept += 1;
  else sums.returned += 1;
  settled.set(slot, sums);
}

function addUsage(usage: Map<string, UsageCount>, call: CallUsage, day: string): void {
  const { customerId, platform, tool } = call;
  const number = durationClass(call.durationMs);
  const slot = `${customerId}\n${day}\n${tool}\n${number}`;
  const sums = usage.get(slot) ?? {
    customerId,
    day,
    platform,
    tool,
    durationClass: number,
    calls: 0,
    errors: 0,
    givenBack: 0,
  };
  sums.calls += 1;
  if (!call.succeeded) sums.errors += 1;
  if (call.unit === 'given_back') sums.givenBack += 1;
  usage.set(slot, sums);
}
