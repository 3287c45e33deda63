import { toNewYork } from '../../../clock/new-york.ts';
import { toAscii } from '../nacha/ascii.ts';
import { toFileDate } from '../nacha/dates.ts';
import { BATCH_HEADER, FILE_HEADER, type Field } from '../nacha/layout.ts';
import type { Batch, BatchHeader, Entry, FileHeader, NachaFile } from '../nacha/model.ts';
import { chooseSec, entryOfGoodLeg, type Leg, type LegRefusal, legRefusals } from './legs.ts';
import { fileIdModifier, traceNumber } from './traces.ts';

/** Who sends, as banks know it. */
export type Originator = {
  /** Eight digits of the bank that sends our entries. */
  readonly odfi: string;
  readonly companyName: string;
  readonly companyId: string;
  readonly entryDescription: string;
  /** Routing numbers (or the number agreed with the bank) and names for the file header. */
  readonly immediateDestination: string;
  readonly immediateOrigin: string;
  readonly destinationName: string;
  readonly originName: string;
};

/** What fits a control record, and how long a file may grow. Lines are entries and addenda. */
export type FileLimits = {
  readonly batchLinesMax: number;
  readonly batchTotalMaxCents: number;
  readonly fileLinesMax: number;
  readonly fileTotalMaxCents: number;
  /** The file control counts batches in six digits. */
  readonly fileBatchesMax: number;
};

export const FILE_LIMITS: FileLimits = {
  batchLinesMax: 999_999,
  // Some banks read ten digits of a batch's sums, as an entry has, although the columns hold twelve.
  batchTotalMaxCents: 9_999_999_999,
  fileLinesMax: 1_000_000,
  fileTotalMaxCents: 999_999_999_999,
  fileBatchesMax: 999_999,
};

export type PlanInput = {
  readonly legs: readonly Leg[];
  readonly originator: Originator;
  readonly createdAt: Date;
  /** The first of as many sequences as there are legs, reserved beforehand. */
  readonly firstTraceSequence: number;
  /** How many files have gone out today. */
  readonly fileOfDay: number;
  readonly limits?: FileLimits;
};

export type Placement = {
  readonly legId: string;
  readonly direction: Leg['direction'];
  readonly fileIndex: number;
  readonly batchNumber: number;
  readonly trace: string;
};

export type RefusedLeg = {
  readonly legId: string;
  readonly direction: Leg['direction'];
  readonly reasons: readonly LegRefusal[];
};

export type FilePlan = {
  readonly files: readonly NachaFile[];
  readonly placements: readonly Placement[];
  readonly refused: readonly RefusedLeg[];
  /** The sequence after the last one used. */
  readonly nextTraceSequence: number;
};

type GrowingBatch = { header: BatchHeader; entries: Entry[]; lines: number; totalCents: number };
type GrowingFile = { batches: GrowingBatch[]; lines: number; debitCents: number; creditCents: number };

/** Words of which ASCII carries nothing would leave a mandatory field blank, and the bank would refuse the file. */
function headerText(own: string | undefined, otherwise: string, field: Field): string {
  return toAscii(own ?? '', field.width) || toAscii(otherwise, field.width);
}

function headerOf(leg: Leg, originator: Originator): Omit<BatchHeader, 'batchNumber'> {
  return {
    serviceClass: leg.direction === 'credit' ? '220' : '225',
    companyName: headerText(leg.companyName, originator.companyName, BATCH_HEADER.companyName),
    discretionaryData: '',
    companyId: originator.companyId,
    sec: leg.sec ?? chooseSec(leg),
    entryDescription: headerText(
      leg.entryDescription,
      originator.entryDescription,
      BATCH_HEADER.entryDescription,
    ),
    descriptiveDate: leg.descriptiveDate ?? '',
    effectiveDate: toFileDate(leg.effectiveDate),
    settlementDate: '',
    originatorStatus: '1',
    odfi: originator.odfi,
  };
}

/** Legs whose headers read the same share a batch; text order of this key is the order of the batches. */
function groupKey(header: Omit<BatchHeader, 'batchNumber'>): string {
  return [
    header.effectiveDate,
    header.sec,
    header.serviceClass,
    header.descriptiveDate,
    header.entryDescription,
    header.companyName,
  ].join('\n');
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

class FilePlanner {
  readonly #limits: FileLimits;
  readonly files: GrowingFile[] = [];

  constructor(limits: FileLimits) {
    this.#limits = limits;
  }

  /** Puts an entry into the batch that is growing, or into a new batch or file where a limit would be passed. */
  place(
    header: Omit<BatchHeader, 'batchNumber'>,
    entry: Entry,
    isNewGroup: boolean,
  ): { fileIndex: number; batchNumber: number } {
    const lines = 1 + entry.addenda.length;
    const isDebit = header.serviceClass === '225';
    let file = this.files.at(-1);
    let batch = file?.batches.at(-1);
    const isBatchFull =
      batch !== undefined &&
      (batch.lines + lines > this.#limits.batchLinesMax ||
        batch.totalCents + entry.amountCents > this.#limits.batchTotalMaxCents);
    const needsBatch = !batch || isNewGroup || isBatchFull;
    const isFileFull =
      file !== undefined &&
      (file.lines + lines > this.#limits.fileLinesMax ||
        (isDebit ? file.debitCents : file.creditCents) + entry.amountCents > this.#limits.fileTotalMaxCents ||
        (needsBatch && file.batches.length >= this.#limits.fileBatchesMax));
    if (!file || isFileFull) {
      file = { batches: [], lines: 0, debitCents: 0, creditCents: 0 };
      this.files.push(file);
    }
    if (!batch || needsBatch || isFileFull) {
      const batchNumber = file.batches.length + 1;
      batch = { header: { ...header, batchNumber }, entries: [], lines: 0, totalCents: 0 };
      file.batches.push(batch);
    }
    batch.entries.push(entry);
    batch.lines += lines;
    batch.totalCents += entry.amountCents;
    file.lines += lines;
    if (isDebit) file.debitCents += entry.amountCents;
    else file.creditCents += entry.amountCents;
    return { fileIndex: this.files.length - 1, batchNumber: batch.header.batchNumber };
  }
}

function fileHeader(input: PlanInput, fileIndex: number): FileHeader {
  const { originator } = input;
  const { date, time } = toNewYork(input.createdAt);
  return {
    immediateDestination: originator.immediateDestination,
    immediateOrigin: originator.immediateOrigin,
    creationDate: toFileDate(date),
    creationTime: time.replace(':', ''),
    idModifier: fileIdModifier(input.fileOfDay + fileIndex),
    destinationName: toAscii(originator.destinationName, FILE_HEADER.destinationName.width),
    originName: toAscii(originator.originName, FILE_HEADER.originName.width),
    referenceCode: '',
  };
}

type Row = { leg: Leg; group: Group };
type Group = { header: Omit<BatchHeader, 'batchNumber'>; key: string };

/** Hundreds of thousands of legs share a handful of headers, so each header is made once. */
class Groups {
  readonly #byParts = new Map<string, Group>();
  readonly #originator: Originator;

  constructor(originator: Originator) {
    this.#originator = originator;
  }

  of(leg: Leg): Group {
    const parts =
      `${leg.effectiveDate}\n${leg.sec ?? chooseSec(leg)}\n${leg.direction}\n${leg.descriptiveDate ?? ''}\n` +
      `${leg.entryDescription ?? ''}\n${leg.companyName ?? ''}`;
    const known = this.#byParts.get(parts);
    if (known) return known;
    const header = headerOf(leg, this.#originator);
    const group = { header, key: groupKey(header) };
    this.#byParts.set(parts, group);
    return group;
  }
}

function sortLegs(input: PlanInput): { rows: Row[]; refused: RefusedLeg[] } {
  const groups = new Groups(input.originator);
  const rows: Row[] = [];
  const refused: RefusedLeg[] = [];
  for (const leg of input.legs) {
    const reasons = legRefusals(leg);
    if (reasons.length > 0) refused.push({ legId: leg.id, direction: leg.direction, reasons });
    else rows.push({ leg, group: groups.of(leg) });
  }
  rows.sort((a, b) => compareText(a.group.key, b.group.key) || compareText(a.leg.id, b.leg.id));
  refused.sort((a, b) => compareText(a.legId, b.legId) || compareText(a.direction, b.direction));
  return { rows, refused };
}

/**
 * From legs to files ready to be written. The same legs in any order give the same files: batches are ordered by
 * what their headers say, entries by the id of their leg.
 */
export function planFiles(input: PlanInput): FilePlan {
  const { rows, refused } = sortLegs(input);
  const planner = new FilePlanner(input.limits ?? FILE_LIMITS);
  const placements: Placement[] = [];
  let sequence = input.firstTraceSequence;
  let keyBefore: string | undefined;
  for (const { leg, group } of rows) {
    const trace = traceNumber(input.originator.odfi, sequence);
    const place = planner.place(group.header, entryOfGoodLeg(leg, trace), group.key !== keyBefore);
    placements.push({ legId: leg.id, direction: leg.direction, trace, ...place });
    sequence += 1;
    keyBefore = group.key;
  }
  const files = planner.files.map((file, index) => ({
    header: fileHeader(input, index),
    batches: file.batches.map((batch): Batch => ({ header: batch.header, entries: batch.entries })),
  }));
  return { files, placements, refused, nextTraceSequence: sequence };
}
