import type { Originator } from '../outgoing/files.ts';
import type { Leg } from '../outgoing/legs.ts';

/** A leg and an originator that every rule accepts, for tests to change one thing at a time. */

export function aLeg(changes: Partial<Leg> = {}): Leg {
  return {
    id: 'pay_1',
    direction: 'credit',
    amountCents: 10_000,
    routing: '231380104',
    account: '12345678',
    accountType: 'checking',
    holderName: 'Jane Doe',
    holderType: 'individual',
    effectiveDate: '2026-11-17',
    ...changes,
  };
}

export const anOriginator: Originator = {
  odfi: '12104288',
  companyName: 'ACME',
  companyId: '1234567890',
  entryDescription: 'PAYMENT',
  immediateDestination: '231380104',
  immediateOrigin: '121042882',
  destinationName: 'FEDERAL RESERVE BANK',
  originName: 'MY BANK',
};
