import { isRoutingNumber } from '../../routing-number.ts';
import { findTransactionCode } from '../nacha/transaction-codes.ts';
import { CHANGE_REASONS, type ColumnRange, type Correction } from './codes.ts';

/** The 29 columns in which a notification of change carries the right details. */
const CORRECTED_DATA_WIDTH = 29;

const PRINTABLE = /^[\x20-\x7e]*$/;
const LOOSE_ACCOUNT_AND_CODE = /^(.*\S)\s+(\d\d)$/;

export type CorrectedDataRefusal = {
  readonly ok: false;
  readonly reason: 'code_unknown' | 'data_malformed';
  readonly detail: string;
};

export type CorrectedDataParsed =
  | { readonly ok: true; readonly correction: Correction }
  | CorrectedDataRefusal;
export type CorrectedDataFormatted = { readonly ok: true; readonly data: string } | CorrectedDataRefusal;

type PartName = keyof Correction;

function refuse(reason: CorrectedDataRefusal['reason'], detail: string): CorrectedDataRefusal {
  return { ok: false, reason, detail };
}

/** Details name the part, never its value: they end up in logs. */
function faultOf(name: PartName, value: string): string | undefined {
  if (value === '') return `${name} is missing.`;
  if (!PRINTABLE.test(value)) return `${name} is not printable ASCII.`;
  if (name === 'routingNumber' && !isRoutingNumber(value)) return 'routingNumber fails its check digit.';
  if (name === 'transactionCode' && !findTransactionCode(value)) return 'transactionCode is unknown.';
  return undefined;
}

function partsOf(layout: object): [PartName, ColumnRange][] {
  return Object.entries(layout) as [PartName, ColumnRange][];
}

function readColumns(layout: object, data: string): Correction {
  return Object.fromEntries(
    partsOf(layout).map(([name, part]) => [name, data.slice(part.at, part.at + part.width).trim()]),
  );
}

/**
 * Some banks set the parts of C03, C06 and C07 one blank apart instead of in their columns.
 * The parts still cannot be mistaken for each other: nine digits first, two digits last.
 */
function readLoosely(layout: object, data: string): Correction | undefined {
  const hasRouting = 'routingNumber' in layout;
  const hasCode = 'transactionCode' in layout;
  if (!('accountNumber' in layout) || (!hasRouting && !hasCode)) return undefined;
  const rest = (hasRouting ? data.slice(9) : data).trim();
  const match = hasCode ? LOOSE_ACCOUNT_AND_CODE.exec(rest) : [rest, rest, ''];
  if (!match) return undefined;
  return {
    ...(hasRouting ? { routingNumber: data.slice(0, 9) } : {}),
    accountNumber: match[1] as string,
    ...(hasCode ? { transactionCode: match[2] as string } : {}),
  };
}

function correctionFault(layout: object, correction: Correction): string | undefined {
  for (const [name, part] of partsOf(layout)) {
    const value = correction[name] ?? '';
    const fault = value.length > part.width ? `${name} is too long.` : faultOf(name, value);
    if (fault) return fault;
  }
  return undefined;
}

export function parseCorrectedData(code: string, data: string): CorrectedDataParsed {
  const reason = CHANGE_REASONS.get(code);
  if (!reason) return refuse('code_unknown', `"${code}" is not a known change code.`);
  if (data.length > CORRECTED_DATA_WIDTH) return refuse('data_malformed', 'More than 29 columns.');
  const inColumns = readColumns(reason.layout, data);
  const fault = correctionFault(reason.layout, inColumns);
  // What stands outside the columns of the code would be lost, so such data is not in columns at all.
  if (!fault && renderColumns(reason.layout, inColumns).trimEnd() === data.trimEnd())
    return { ok: true, correction: inColumns };
  const loose = readLoosely(reason.layout, data);
  if (loose && !correctionFault(reason.layout, loose)) return { ok: true, correction: loose };
  if (!fault) return { ok: true, correction: inColumns };
  return refuse('data_malformed', fault);
}

function renderColumns(layout: object, correction: Correction): string {
  let line = '';
  for (const [name, part] of partsOf(layout).toSorted(([, a], [, b]) => a.at - b.at))
    line = line.padEnd(part.at) + (correction[name] ?? '').padEnd(part.width);
  return line.padEnd(CORRECTED_DATA_WIDTH);
}

/** What the receiving bank writes. Always 29 columns. */
export function formatCorrectedData(code: string, correction: Correction): CorrectedDataFormatted {
  const reason = CHANGE_REASONS.get(code);
  if (!reason) return refuse('code_unknown', `"${code}" is not a known change code.`);
  const fault = correctionFault(reason.layout, correction);
  if (fault) return refuse('data_malformed', fault);
  return { ok: true, data: renderColumns(reason.layout, correction) };
}
