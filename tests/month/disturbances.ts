import type { Database } from '@libs/db';
import { ADMIN_TOKEN, type Harness } from '../contract/payments/harness.ts';
import { pick } from './orders.ts';

/*
 * What real banks do beside answering: they refuse a file that they had taken, deliver a file twice, and put an entry of
 * somebody else among ours. None of it may change how a payment ends, and all that is put aside is counted.
 */

const SOMETIMES = 0.25;

export interface Disturbances {
  /** Once an hour of the simulation, with the organisation's clock standing. */
  disturb(): Promise<void>;
  /** How many entries and files must have been put aside. */
  readonly planted: number;
}

export function createDisturbances(harness: Harness, mailbox: string, random: () => number): Disturbances {
  const { database } = harness;
  let planted = 0;
  return {
    get planted() {
      return planted;
    },
    async disturb() {
      if (random() < SOMETIMES) await refuseFile(harness, mailbox, random);
      if (random() < SOMETIMES && (await deliverAgain(database, mailbox, planted))) planted += 1;
      if (random() < SOMETIMES && (await deliverStray(database, mailbox, planted))) planted += 1;
    },
  };
}

/**
 * The bank refuses a file that left and of which nothing has settled; its entries leave again. Not one with a credit
 * whose debit will come back: the return would overtake the credit, and rightly stop it.
 */
async function refuseFile(harness: Harness, mailbox: string, random: () => number): Promise<void> {
  const { rows } = await harness.database.query<{ id: string }>(
    `select f.id from ach_files f where f.scope = $1 and f.sent_at is not null and f.refusal is null
       and not exists (select from ach_entries e where e.file_id = f.id and e.state <> 'sent')
       and not exists (select from ach_entries e join payments p on p.tenant_id = e.tenant_id and p.id = e.payment_id
         where e.file_id = f.id and p.source_id like '%late_return%')
       and exists (select from ach_entries e where e.file_id = f.id and e.settles_at > f.as_of
         and f.as_of = (select max(as_of) from ach_files where scope = $1))`,
    [mailbox],
  );
  if (rows.length === 0) return;
  const { id } = pick(random, rows);
  const answer = await harness.call('POST', `/v1/admin/ach_files/${id}/reject`, {
    key: ADMIN_TOKEN,
    body: { reason: 'The bank found a fault in it.', resend: true },
  });
  if (answer.status !== 200) throw new Error(`the file was not rejected: ${answer.status} ${answer.text}`);
}

/** A file that was read long ago lies there once more under another name. */
async function deliverAgain(database: Database, mailbox: string, number: number): Promise<boolean> {
  const { rowCount } = await database.query(
    `insert into sandbox_ach_outbox (mailbox, name, content, created_at)
     select mailbox, 'again-' || $2 || '.ach', content, created_at from sandbox_ach_outbox
     where mailbox = $1 and fetched_at is not null and name like 'answers-%' order by name limit 1`,
    [mailbox, number],
  );
  return rowCount > 0;
}

/** A file with a return of an entry that nobody sent. */
async function deliverStray(database: Database, mailbox: string, number: number): Promise<boolean> {
  const trace = `9999999${String(number).padStart(8, '0')}`;
  const content = [
    '5225SOMEBODY ELSE                       1999999999WEBPAYMENT         830302   1110000000000001',
    `62611000000012345            0000001000SOMEBODY       SOMEBODY ELSE         S 1${trace}`,
    `799R01${trace}      11000000                                            ${trace}`,
  ].join('\n');
  await database.query(
    `insert into sandbox_ach_outbox (mailbox, name, content, created_at)
     select $1, 'stray-' || $2 || '.ach', $3, coalesce(max(created_at), now()) from sandbox_ach_outbox where mailbox = $1`,
    [mailbox, number, content],
  );
  return true;
}
