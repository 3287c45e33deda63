import type { CivilDate } from '../../../clock/new-york.ts';
import { isDfiIdentification } from '../../routing-number.ts';

/** Numbers that identify what we send: traces of entries, modifiers and names of files. */

export const TRACE_SEQUENCE_MAX = 9_999_999;
const DFI_WIDTH = 8;
const SEQUENCE_WIDTH = 7;
const MODIFIERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const TRACE = /^\d{15}$/;

/** How many files one origin may send to one destination on one day. */
export const FILES_PER_DAY_MAX = MODIFIERS.length;

/** A numbering of the network is used up; only time or another originating bank helps. */
export class AchNumbersExhausted extends Error {
  readonly numbering: 'traces' | 'files_of_day';

  constructor(numbering: 'traces' | 'files_of_day', message: string) {
    super(message);
    this.name = 'AchNumbersExhausted';
    this.numbering = numbering;
  }
}

export function traceNumber(odfi: string, sequence: number): string {
  if (!isDfiIdentification(odfi)) throw new RangeError(`"${odfi}" is not eight digits.`);
  if (!Number.isSafeInteger(sequence) || sequence < 1 || sequence > TRACE_SEQUENCE_MAX)
    throw new AchNumbersExhausted(
      'traces',
      `${sequence} is not a trace sequence of 1 to ${TRACE_SEQUENCE_MAX}.`,
    );
  return odfi + String(sequence).padStart(SEQUENCE_WIDTH, '0');
}

export type Trace = { readonly odfi: string; readonly sequence: number };

export function parseTrace(trace: string): Trace | undefined {
  if (!TRACE.test(trace)) return undefined;
  return { odfi: trace.slice(0, DFI_WIDTH), sequence: Number(trace.slice(DFI_WIDTH)) };
}

export type TraceRange = { readonly first: number; readonly last: number };

/**
 * The next `count` sequences after the last one used. Where they would run over the end they begin at 1 again as a
 * whole, because traces ascend through a file.
 */
export function reserveTraces(lastUsed: number, count: number): TraceRange {
  if (!Number.isSafeInteger(count) || count < 1 || count > TRACE_SEQUENCE_MAX)
    throw new AchNumbersExhausted('traces', `${count} traces cannot be reserved at once.`);
  const first = lastUsed + count > TRACE_SEQUENCE_MAX ? 1 : lastUsed + 1;
  return { first, last: first + count - 1 };
}

/** The first file of a day is 0. */
export function fileIdModifier(fileOfDay: number): string {
  const modifier = MODIFIERS[fileOfDay];
  if (modifier === undefined)
    throw new AchNumbersExhausted('files_of_day', `A day has ${FILES_PER_DAY_MAX} files at most.`);
  return modifier;
}

export type FileIdentity = {
  /** Routing number or company number of the sender. */
  readonly origin: string;
  readonly date: CivilDate;
  readonly modifier: string;
};

/** The same identity gives the same name, so a file that is sent again replaces itself. */
export function achFileName({ origin, date, modifier }: FileIdentity): string {
  return `ach-${origin.trim()}-${date.replaceAll('-', '')}-${modifier}.ach`;
}

/** The name while the file is being written; banks pick up only names that end in .ach. */
export function temporaryFileName(name: string): string {
  return `${name}.part`;
}
