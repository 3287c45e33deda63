import { isDfiIdentification, isRoutingNumber } from '../../routing-number.ts';
import { toAscii } from '../nacha/ascii.ts';
import { BATCH_HEADER, FILE_HEADER } from '../nacha/layout.ts';
import type { Originator } from './files.ts';
import { FILES_PER_DAY_MAX } from './traces.ts';

/** The sandbox's own bank, and the operator that it sends to. */
export const SANDBOX_ORIGINATOR: Originator = {
  odfi: '11000000',
  companyName: 'PAYMENTS SANDBOX',
  companyId: '1110000000',
  entryDescription: 'PAYMENT',
  immediateDestination: '061000146',
  immediateOrigin: '110000000',
  destinationName: 'SANDBOX ACH OPERATOR',
  originName: 'TEST BANK',
};

const AGREED_NUMBER = /^9\d{9}$/;
const TEN_DIGITS = /^[1-9]\d{9}$/;

/**
 * One origin has 36 files a day, which windows never use up. A sandbox without a clock sends a file as often as there
 * is something to send, so after every 36 it goes on under another number of ten digits that its operator agreed to.
 */
export function sandboxOriginOf(
  originator: Originator,
  fileOfDay: number,
): { originator: Originator; fileOfDay: number } {
  const round = Math.floor(fileOfDay / FILES_PER_DAY_MAX);
  const immediateOrigin = round === 0 ? originator.immediateOrigin : `9${String(round).padStart(9, '0')}`;
  return { originator: { ...originator, immediateOrigin }, fileOfDay: fileOfDay % FILES_PER_DAY_MAX };
}

export function isSandboxOrigin(originator: Originator, immediateOrigin: string): boolean {
  const origin = immediateOrigin.trim();
  return origin === originator.immediateOrigin || AGREED_NUMBER.test(origin);
}

/** What a bank would find wrong with the details of a live originator, in words for whoever sets them. */
export function originatorProblems(originator: Originator): string[] {
  const { odfi, companyId, immediateDestination, immediateOrigin } = originator;
  const problems: string[] = [];
  if (!isDfiIdentification(odfi)) problems.push('odfi must be the first eight digits of a routing number');
  if (!isRoutingNumber(immediateDestination)) problems.push('immediateDestination must be a routing number');
  if (!isRoutingNumber(immediateOrigin) && !TEN_DIGITS.test(immediateOrigin))
    problems.push('immediateOrigin must be a routing number or the ten digits agreed with the bank');
  const widths = {
    companyId: BATCH_HEADER.companyId,
    companyName: BATCH_HEADER.companyName,
    entryDescription: BATCH_HEADER.entryDescription,
    destinationName: FILE_HEADER.destinationName,
    originName: FILE_HEADER.originName,
  } as const;
  for (const [name, { width }] of Object.entries(widths)) {
    const value = originator[name as keyof typeof widths];
    if (value.trim() === '' || toAscii(value, Number.MAX_SAFE_INTEGER) !== value || value.length > width)
      problems.push(`${name} must have 1 to ${width} plain characters`);
  }
  if (companyId.includes(' ')) problems.push('companyId must have no blanks');
  return problems;
}
