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
