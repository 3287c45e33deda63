import type { Queryable } from '@libs/db';
import { enqueueJobs } from '@libs/jobs';
import { errors } from '../errors.ts';
import { SCHEMA } from '../schema.ts';
import { clearOwner, deleteReceived, setOwner } from './store.ts';

/** Has what waited for an owner handed over. */
export const CLAIMED_JOB = 'inbound.whatsapp_claimed';

/**
 * Makes the number the customer's, in the transaction that stores a credential which WhatsApp accepted for it; 409
 * `phone_number_taken` when it is another's. A number that the customer had before is released. What came for the new
 * one meanwhile follows as events.
 */
export async function claimPhoneNumber(
  tx: Queryable,
  claim: { customerId: string; phoneNumberId: string; at: Date },
): Promise<void> {
  const { customerId, phoneNumberId } = claim;
  if (!(await setOwner(tx, claim))) throw errors.phone_number_taken();
  await release(tx, { customerId, except: phoneNumberId });
  await enqueueJobs(tx, SCHEMA, [{ name: CLAIMED_JOB, payload: { phoneNumberId } }]);
}

/** Gives the customer's number up and deletes what was received under it. */
export function releasePhoneNumber(tx: Queryable, customerId: string): Promise<void> {
  return release(tx, { customerId, except: null });
}

async function release(
  tx: Queryable,
  { customerId, except }: { customerId: string; except: string | null },
): Promise<void> {
  const phoneNumberIds = await clearOwner(tx, { customerId, except });
  if (phoneNumberIds.length > 0) await deleteReceived(tx, { customerId, phoneNumberIds });
}
