import type { Queryable } from '@libs/db';

/** What somebody orders of the operator beside what accounts ask for. The caller has locked the mailbox. */

/** Notes that the latest entry of a trace was sent back, beside what was planned for it; whether there was one to note. */
export async function noteReturned(
  tx: Queryable,
  mailbox: string,
  { trace, code, at }: { trace: string; code: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update sandbox_ach_entries set returned_at = $3, return_code = $4
     where mailbox = $1 and trace = $2 and returned_at is null
       and day = (select max(day) from sandbox_ach_entries where mailbox = $1 and trace = $2)`,
    [mailbox, trace, at, code],
  );
  if (rowCount === 0) return false;
  await tx.query(
    `delete from sandbox_ach_answers where mailbox = $1 and trace = $2 and kind = 'return' and outbox_name is null`,
    [mailbox, trace],
  );
  return true;
}

/** Whether a file that waits to be fetched tells an entry of this change. What was planned to tell it later is given up. */
export async function takeOverChange(
  tx: Queryable,
  mailbox: string,
  { trace, code }: { trace: string; code: string },
): Promise<boolean> {
  await tx.query(
    `delete from sandbox_ach_answers
     where mailbox = $1 and trace = $2 and code = $3 and kind = 'noc' and outbox_name is null`,
    [mailbox, trace, code],
  );
  // Looked for in the few files that wait: no index finds the answers that were written, which are many and stay.
  const { rows } = await tx.query<{ waits: boolean }>(
    `select exists (select from sandbox_ach_outbox
       where mailbox = $1 and fetched_at is null and strpos(content, '798' || $3 || $2) > 0) as waits`,
    [mailbox, trace, code],
  );
  return rows[0]?.waits ?? false;
}

/** Keeps a file that was handed over by order; its name says what it tells. */
export async function noteHandedOver(
  tx: Queryable,
  mailbox: string,
  { name, content, at }: { name: string; content: string; at: Date },
): Promise<void> {
  await tx.query(
    `insert into sandbox_ach_outbox (mailbox, name, content, created_at, fetched_at) values ($1, $2, $3, $4, $4)
     on conflict (mailbox, name) do nothing`,
    [mailbox, name, content, at],
  );
}

/** Those of the names whose files were handed over. */
export async function findHandedOver(
  tx: Queryable,
  mailbox: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ name: string }>(
    'select name from sandbox_ach_outbox where mailbox = $1 and name = any($2)',
    [mailbox, names],
  );
  return new Set(rows.map(({ name }) => name));
}

export async function forgetFile(
  tx: Queryable,
  mailbox: string,
  { name, traces, reason }: { name: string; traces: readonly string[]; reason: string },
): Promise<void> {
  await tx.query(
    'delete from sandbox_ach_answers where mailbox = $1 and trace = any($2) and outbox_name is null',
    [mailbox, traces],
  );
  await tx.query(
    'delete from sandbox_ach_entries where mailbox = $1 and trace = any($2) and returned_at is null',
    [mailbox, traces],
  );
  await tx.query('update sandbox_ach_files set refusals = $3 where mailbox = $1 and name = $2', [
    mailbox,
    name,
    JSON.stringify([reason]),
  ]);
}
