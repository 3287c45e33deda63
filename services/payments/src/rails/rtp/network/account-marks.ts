import type { Sealer } from '@libs/seal';
import type { AccountMarks } from './decision.ts';

const CONTEXT = 'sandbox_rtp_accounts';

/** Marks that nobody can compute without the key; those of former keys are recognised while keys rotate. */
export function accountMarks(sealer: Pick<Sealer, 'fingerprint' | 'fingerprints'>): AccountMarks {
  return {
    of: (accounts) => sealer.fingerprint(accounts, CONTEXT),
    // Transfers of before there were marks have none.
    isOf: (mark, accounts) => mark === '' || sealer.fingerprints(accounts, CONTEXT).includes(mark),
  };
}
