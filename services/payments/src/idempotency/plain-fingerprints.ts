import type { Database } from '@libs/db';
import { ifReadable, type Sealer } from '@libs/seal';
import { openAnswer, sealAnswer } from './kept-answer.ts';
import { findTenantAfter, type PlainAnswer, readPlainAnswers, replaceAnswer } from './store.ts';

/** Where bodies hold account numbers. */
const ACCOUNTS_PATH = '/v1/payment_methods';
const ROWS_PER_PAGE = 200;
/** Processes of the version before may run on beside this one for a while, and each of their keys is plain. */
const WALK_AGAIN_MS = 24 * 60 * 60_000;

export interface PlainFingerprintsDependencies {
  database: Database;
  sealer: Pick<Sealer, 'openText' | 'seal'>;
  now: () => Date;
}

/**
 * Versions before this one kept fingerprints beside the sealed answers, where account numbers can be found by trying all of them.
 * Keys are walked through tenant by tenant, by their primary key alone, once a day: an index for this would hold up new payments
 * while it is built. Where the walk got to is this process's: another one that takes over begins anew, and finds less to do.
 */
export function createPlainFingerprints({ database, sealer, now }: PlainFingerprintsDependencies) {
  let tenantId: string | undefined;
  let afterKey = '';
  let beginsAtMs = 0;

  async function sealPage(of: string): Promise<void> {
    const place = { tenantId: of, path: ACCOUNTS_PATH };
    const page = await readPlainAnswers(database, { ...place, afterKey, limit: ROWS_PER_PAGE });
    for (const answer of page.plain) await sealPlain(answer);
    afterKey = page.lastKey ?? '';
    if (page.lastKey === null) tenantId = await findTenantAfter(database, of);
  }

  /** One that no key opens here stays, until its 30 days are over: nobody can answer by it either. */
  async function sealPlain(answer: PlainAnswer): Promise<void> {
    const kept = ifReadable(() => openAnswer(sealer, answer, answer));
    if (kept) await replaceAnswer(database, answer, sealAnswer(sealer, answer, kept));
  }

  /** Answers how many rows and tenants it looked at: less than the limit when the walk is through. */
  return async (limit: number): Promise<number> => {
    if (now().getTime() < beginsAtMs) return 0;
    tenantId ??= await findTenantAfter(database, '');
    let looked = 0;
    for (; tenantId !== undefined && looked < limit; looked += ROWS_PER_PAGE) await sealPage(tenantId);
    if (tenantId !== undefined) return limit;
    beginsAtMs = now().getTime() + WALK_AGAIN_MS;
    return 0;
  };
}
