import type { Queryable } from '@libs/db';
import { addDays, fromNewYork, toNewYork } from '../../../clock/new-york.ts';
import { delayOf } from '../entries/delays.ts';
import { updateEntries } from '../entries/entries-store.ts';
import type { AchEntry } from '../entries/entry.ts';
import { legsOf, type PaymentsByKey, paymentOf } from '../entries/payments.ts';
import { timesOf } from '../schedule/schedule.ts';
import type { AchContext } from '../work/context.ts';
import { FILES_PER_DAY_MAX } from './traces.ts';

export interface Postponed {
  entries: readonly AchEntry[];
  /** Those that the entries belong to, locked. */
  payments: PaymentsByKey;
  /** From when on they may leave. */
  from: Date;
}

/** They leave in the first window after `from`, under another trace where they had left before; their payments say when that settles. */
export async function postpone(
  tx: Queryable,
  { pace, applyOutcomes }: AchContext,
  { entries, payments, from }: Postponed,
): Promise<void> {
  const steps = entries.map((entry) => {
    const payment = paymentOf(payments, entry);
    const legs = legsOf(payment);
    const times = timesOf({ ...entry, from, legs }, pace);
    const queued: AchEntry = { ...entry, ...times, state: 'queued', sentAs: null };
    return { queued, outcomes: delayOf(queued, { payment, legs, pace, again: entry.sentAs }) };
  });
  await updateEntries(
    tx,
    steps.map(({ queued }) => queued),
  );
  await applyOutcomes(
    tx,
    steps.flatMap(({ outcomes }) => outcomes),
  );
}

/** The bank takes no more files today, so what is left leaves tomorrow; somebody must know. */
export async function waitForTomorrow(
  tx: Queryable,
  context: AchContext,
  { entries, payments, asOf }: Omit<Postponed, 'from'> & { asOf: Date },
): Promise<void> {
  const from = fromNewYork(addDays(toNewYork(asOf).date, 1), '00:00');
  await postpone(tx, context, { entries, payments, from });
  const fields = {
    alert: 'ach_files_used_up',
    rail: 'ach',
    entries: entries.length,
    filesMax: FILES_PER_DAY_MAX,
  };
  context.log.error(fields, 'the files of the day are used up: entries leave on the next one');
}
