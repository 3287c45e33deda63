import type { Database } from '@libs/db';
import { ADMIN_TOKEN, type Harness } from '../contract/payments/harness.ts';
import { pick } from './orders.ts';
import type { Expected } from './returns.ts';

/*
 * What real banks do beside answering: they refuse a file that they had taken, deliver a file twice, and put an entry of
 * somebody else among ours. A file that they refuse leaves again or fails; nothing else may change how a payment ends, and
 * all that is put aside is counted.
 */

const SOMETIMES = 0.25;
const SOMETIMES_FOR_GOOD = 0.3;

export interface Disturbances {
  /** Once an hour of the simulation, with the organisation's clock standing. */
  disturb(): Promise<void>;
  /** How many entries and files must have been put aside. */
  readonly planted: number;
  /** Files that the bank refused: those whose entries left again, and those whose payments failed. */
  readonly refused: { again: number; forGood: number };
}

export interface DisturbedOptions {
  mailbox: string;
  random: () => number;
  /** What each payment must come to. */
  expected: ReadonlyMap<string, Expected>;
}

export function createDisturbances(harness: Harness, options: DisturbedOptions): Disturbances {
  const { database } = harness;
  const { mailbox, random, expected } = options;
  const refused = { again: 0, forGood: 0 };
  let planted = 0;
  return {
    refused,
    get planted() {
      return planted;
    },
    async disturb() {
      if (random() < SOMETIMES) {
        const resend = random() >= SOMETIMES_FOR_GOOD;
        const { isRefused, payments } = await refuseFile(harness, { mailbox, random, resend });
        if (isRefused) refused[resend ? 'again' : 'forGood'] += 1;
        for (const id of payments)
          Object.assign(expected.get(id) ?? {}, { history: 'pending > processing > failed', loss: null });
      }
      if (random() < SOMETIMES && (await deliverAgain(database, mailbox, planted))) planted += 1;
      if (random() < SOMETIMES && (await deliverStray(database, mailbox, planted))) planted += 1;
    },
  };
}

interface Refusing {
  mailbox: string;
  random: () => number;
  resend: boolean;
}

/**
 * The bank refuses a file that left and of which nothing has settled; its entries leave again, or fail. The former not
 * with a credit whose debit will come back: the return would overtake the credit, and rightly stop it. The latter not
 * with a refund, which nobody would send again. Answers the payments that fail by it.
 */
async function refuseFile(
  harness: Harness,
  { mailbox, random, resend }: Refusing,
): Promise<{ isRefused: boolean; payments: string[] }> {
  const { rows } = await harness.database.query<{ id: string }>(
    `select f.id from ach_files f where f.scope = $1 and f.sent_at is not null and f.refusal is null
       and not exists (select from ach_entries e where e.file_id = f.id and e.state <> 'sent')
       and not exists (select from ach_entries e join payments p on p.tenant_id = e.tenant_id and p.id = e.payment_id
         where e.file_id = f.id and case when $2 then p.source_id like '%late_return%' else e.leg = 'refund' end)
       and exists (select from ach_entries e where e.file_id = f.id and e.settles_at > f.as_of
         and f.as_of = (select max(as_of) from ach_files where scope = $1))`,
    [mailbox, resend],
  );
  if (rows.length === 0) return { isRefused: false, payments: [] };
  const { id } = pick(random, rows);
  const { rows: failing } = await harness.database.query<{ payment_id: string }>(
    'select payment_id from ach_entries where file_id = $1 and not $2::boolean',
    [id, resend],
  );
  const answer = await harness.call('POST', `/v1/admin/ach_files/${id}/reject`, {
    key: ADMIN_TOKEN,
    body: { reason: 'The bank found a fault in it.', resend },
  });
  if (answer.status !== 200) throw new Error(`the file was not rejected: ${answer.status} ${answer.text}`);
  return { isRefused: true, payments: failing.map(({ payment_id }) => payment_id) };
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
