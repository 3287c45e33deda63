import { isBankingDay } from '../../../clock/banking-days.ts';
import { RETURN_REASONS } from '../codes/codes.ts';
import { fromFileDate } from '../nacha/dates.ts';
import type { Batch, BatchHeader, NachaFile } from '../nacha/model.ts';
import { findTransactionCode } from '../nacha/transaction-codes.ts';
import type { Originator } from '../outgoing/files.ts';
import { RETRY_DESCRIPTION } from '../outgoing/legs.ts';
import { isSandboxOrigin } from '../outgoing/originator.ts';
import type { AchTerms } from '../schedule/terms.ts';
import type { EarlierDebit, Original } from './store.ts';
import { sameDayHour } from './times.ts';

export interface EntryToBook {
  original: Original;
  direction: 'debit' | 'credit';
  settlesAt: Date;
}

const ORIGINATED: ReadonlySet<string> = new Set(['PPD', 'CCD', 'WEB']);

interface Agreement {
  originator: Originator;
  terms: AchTerms;
}

/** What a bank demands of a file beyond its format. Empty where it takes it; a file is taken or refused as a whole. */
export function judgeFile(file: NachaFile, agreement: Agreement): string[] {
  const { header, batches } = file;
  const { originator } = agreement;
  const refusals: string[] = [];
  if (header.immediateDestination.trim() !== originator.immediateDestination)
    refusals.push('The file is addressed to another bank.');
  if (!isSandboxOrigin(originator, header.immediateOrigin)) refusals.push('The origin is unknown.');
  if (batches.length === 0) refusals.push('The file holds nothing.');
  const created = fromFileDate(header.creationDate);
  for (const batch of batches) {
    const number = batch.header.batchNumber;
    refusals.push(...judgeBatch(batch, created, agreement).map((reason) => `Batch ${number}: ${reason}`));
  }
  return refusals;
}

function judgeBatch(batch: Batch, created: string, { originator, terms }: Agreement): string[] {
  const { header, entries } = batch;
  const refusals: string[] = [];
  if (header.odfi !== originator.odfi) refusals.push('The originating bank is not the sender.');
  if (header.companyId !== originator.companyId) refusals.push('The company is unknown.');
  if (!ORIGINATED.has(header.sec)) refusals.push(`Class ${header.sec} was not agreed on.`);
  if (header.originatorStatus !== '1') refusals.push('The originator status must be 1.');
  const effective = fromFileDate(header.effectiveDate);
  if (!isBankingDay(effective)) refusals.push(`${effective} is not a banking day.`);
  if (effective < created) refusals.push(`${effective} has passed.`);
  if (entries.some((entry) => findTransactionCode(entry.transactionCode)?.kind !== 'live'))
    refusals.push('Only entries that move money were agreed on.');
  return [...refusals, ...judgeSameDay(batch, { created, effective, terms })];
}

function judgeSameDay(
  { header, entries }: Batch,
  { created, effective, terms }: { created: string; effective: string; terms: AchTerms },
): string[] {
  const hour = sameDayHour(header);
  if (hour === undefined)
    return effective === created ? ['A batch for the same day must say for which window.'] : [];
  const refusals: string[] = [];
  if (!terms.sameDayWindows.some((window) => window.settlesAt === hour))
    refusals.push(`No window settles at ${hour}.`);
  if (effective !== created) refusals.push('A same-day batch is for the day of the file.');
  if (entries.some((entry) => entry.amountCents > terms.sameDayAmountMaxCents))
    refusals.push('An amount is over the limit of the same day.');
  return refusals;
}

/** Whether a batch says that its debits came back before. */
export function isRetry({ entryDescription }: Pick<BatchHeader, 'entryDescription'>): boolean {
  return entryDescription.trim() === RETRY_DESCRIPTION;
}

/** A debit may be presented again when all that went before came back for want of money, and for the same amount. */
export function judgeRetries(
  retries: readonly EntryToBook[],
  earlier: readonly EarlierDebit[],
  terms: Pick<AchTerms, 'representmentsMax'>,
): string[] {
  const byReference = Map.groupBy(earlier, ({ reference }) => reference);
  return retries.flatMap(({ original: { entry }, direction }): string[] => {
    const before = byReference.get(entry.individualId) ?? [];
    const trace = `Trace ${entry.trace}`;
    if (direction !== 'debit') return [`${trace}: only debits are presented again.`];
    if (before.length === 0) return [`${trace}: nothing was presented before.`];
    if (before.length > terms.representmentsMax) return [`${trace}: it was presented too often.`];
    if (before.some(({ amount }) => amount !== entry.amountCents)) return [`${trace}: the amount differs.`];
    const isShort = before.every(({ returnCode }) => RETURN_REASONS.get(returnCode ?? '')?.representable);
    return isShort ? [] : [`${trace}: what went before did not come back for want of money.`];
  });
}
