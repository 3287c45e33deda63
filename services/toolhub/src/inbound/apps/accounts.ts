import type { Queryable } from '@libs/db';
import { enqueueJobs } from '@libs/jobs';
import { SCHEMA } from '../../schema.ts';
import {
  deleteReceivedMessages,
  insertAccount,
  listAccounts,
  lockAccounts,
  releaseAccounts,
} from './store.ts';

/** Has what waited for somebody to connect the account handed over. */
export const ACCOUNT_CLAIMED_JOB = 'inbound.account_claimed';

/**
 * Lets the customer have what vendors send for an account, in the transaction that stores a credential which the vendor
 * accepted for it. Null, for one that nobody tried, gives up what the customer had at the platform.
 */
export async function claimAccount(
  tx: Queryable,
  claim: { platform: string; account: string | null; customerId: string; at: Date },
): Promise<void> {
  const { platform, account, customerId, at } = claim;
  await release(tx, { platform, customerId, except: account });
  if (account === null) return;
  await insertAccount(tx, { platform, account, customerId, at });
  await enqueueJobs(tx, SCHEMA, [{ name: ACCOUNT_CLAIMED_JOB, payload: { platform, account } }]);
}

/** Gives the account up and deletes what was received for it. */
export function releaseAccount(
  tx: Queryable,
  { platform, customerId }: { platform: string; customerId: string },
): Promise<void> {
  return release(tx, { platform, customerId, except: null });
}

/** What is being stored for an account is waited for and deleted, too. The one that stays, or comes, is locked with the others: in one order. */
async function release(
  tx: Queryable,
  key: { platform: string; customerId: string; except: string | null },
): Promise<void> {
  const { platform, except } = key;
  const locked = [...(await listAccounts(tx, key)), ...(except === null ? [] : [except])];
  await lockAccounts(tx, { platform, accounts: locked, exclusively: true });
  const accounts = await releaseAccounts(tx, key);
  if (accounts.length > 0) await deleteReceivedMessages(tx, { ...key, accounts });
}
