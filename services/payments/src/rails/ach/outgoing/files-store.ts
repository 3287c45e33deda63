import type { Database, Queryable } from '@libs/db';
import type { CivilDate } from '../../../clock/new-york.ts';
import type { AchScope } from '../entries/scope.ts';
import type { FileFilter, FileStatus, ListedFile } from './listed-file.ts';

/** A file that we made. */
export interface StoredFile {
  id: string;
  scope: AchScope;
  name: string;
  contentSealed: Buffer;
  entries: number;
  debitTotal: number;
  creditTotal: number;
  asOf: Date;
  createdAt: Date;
  /** Brought over whole, though the bank may not see it yet. */
  isUploaded: boolean;
  isSent: boolean;
  /** The bank took nothing of it. */
  isRefused: boolean;
}

interface FileRow {
  id: string;
  scope: string;
  name: string;
  content_sealed: Buffer;
  entries: number;
  debit_total: number;
  credit_total: number;
  as_of: Date;
  created_at: Date;
  uploaded: boolean;
  sent: boolean;
  refused: boolean;
}

const COLUMNS = 'id, scope, name, content_sealed, entries, debit_total, credit_total, as_of, created_at';
const VIEW = `${COLUMNS}, uploaded_at is not null as uploaded, sent_at is not null as sent,
  refusal is not null as refused`;

function fromRow(row: FileRow): StoredFile {
  return {
    id: row.id,
    scope: row.scope,
    name: row.name,
    contentSealed: row.content_sealed,
    entries: row.entries,
    debitTotal: row.debit_total,
    creditTotal: row.credit_total,
    asOf: row.as_of,
    createdAt: row.created_at,
    isUploaded: row.uploaded,
    isSent: row.sent,
    isRefused: row.refused,
  };
}

export async function insertFile(
  tx: Queryable,
  file: Omit<StoredFile, 'isUploaded' | 'isSent' | 'isRefused'>,
): Promise<void> {
  await tx.query(`insert into ach_files (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, [
    file.id,
    file.scope,
    file.name,
    file.contentSealed,
    file.entries,
    file.debitTotal,
    file.creditTotal,
    file.asOf,
    file.createdAt,
  ]);
}

/** The oldest file that nobody has confirmed to be sent. */
export async function findUnsent(db: Queryable, scope: AchScope): Promise<StoredFile | undefined> {
  const { rows } = await db.query<FileRow>(
    {
      name: 'ach.files_unsent',
      text: `select ${VIEW} from ach_files where scope = $1 and sent_at is null order by id limit 1`,
    },
    [scope],
  );
  return rows[0] && fromRow(rows[0]);
}

/** Whether nobody had noted it before: another worker may have handed over the same file, and much may have come of it since. */
export async function markSent(
  tx: Queryable,
  id: string,
  { at, refusal }: { at: Date; refusal: string | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'update ach_files set sent_at = $2, refusal = $3 where id = $1 and sent_at is null',
    [id, at, refusal],
  );
  return rowCount === 1;
}

/** The bank, which had taken it, takes nothing of it after all. */
export async function markRejected(tx: Queryable, id: string, refusal: string): Promise<void> {
  await tx.query('update ach_files set refusal = $2 where id = $1', [id, refusal]);
}

export async function markUploaded(db: Queryable, id: string, at: Date): Promise<void> {
  await db.query('update ach_files set uploaded_at = $2 where id = $1', [id, at]);
}

export async function findFiles(db: Queryable, ids: readonly string[]): Promise<StoredFile[]> {
  const { rows } = await db.query<FileRow>(`select ${VIEW} from ach_files where id = any($1)`, [ids]);
  return rows.map(fromRow);
}

export interface Counters {
  lastTrace: number;
  /** How many files have gone out on this day. */
  files: number;
  /** Whether files of a later day have gone out before. */
  isLate: boolean;
}

/** Locks the numbers of a scope until the transaction ends. */
export async function lockCounters(tx: Queryable, scope: AchScope, day: CivilDate): Promise<Counters> {
  const { rows } = await tx.query<{ last_trace: number; files: number; is_late: boolean }>(
    `insert into ach_counters as c (scope, last_trace, day, files) values ($1, 0, $2, 0)
     on conflict (scope) do update set day = greatest(c.day, $2),
       files = case when c.day >= $2 then c.files else 0 end
     returning last_trace, files, day > $2 as is_late`,
    [scope, day],
  );
  const row = rows[0];
  if (!row) throw new Error('an upsert answers its row');
  const { last_trace: lastTrace, is_late: isLate } = row;
  return { lastTrace, isLate, files: isLate ? await countFilesOf(tx, scope, day) : row.files };
}

/** The counter has gone on to a later day, so the files themselves say how many there are. */
async function countFilesOf(db: Queryable, scope: AchScope, day: CivilDate): Promise<number> {
  const { rows } = await db.query<{ files: number }>(
    `select count(*)::int as files from ach_files where scope = $1
       and as_of >= $2::date::timestamp at time zone 'America/New_York'
       and as_of < ($2::date + 1)::timestamp at time zone 'America/New_York'`,
    [scope, day],
  );
  return rows[0]?.files ?? 0;
}

/** Counts one more file of the day. */
export async function saveCounters(
  tx: Queryable,
  scope: AchScope,
  { lastTrace, isLate }: Pick<Counters, 'lastTrace' | 'isLate'>,
): Promise<void> {
  await tx.query('update ach_counters set last_trace = $2, files = files + $3 where scope = $1', [
    scope,
    lastTrace,
    isLate ? 0 : 1,
  ]);
}

/** What is hashed to a number beside the scope, so that other features' locks are other locks. */
const LOCK_FAMILY = 4_211;

const LIVE_LOCK_FAMILY = 4_213;

/**
 * Does the work while no other process does; answers undefined where one does. Only the live line needs it, which two
 * would write on at once; the lock is the session's, so it takes a connection for as long.
 */
export function withLiveLine<T>(database: Database, work: () => Promise<T>): Promise<T | undefined> {
  return database.session(async (session) => {
    const { rows } = await session.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      LIVE_LOCK_FAMILY,
    ]);
    if (!rows[0]?.locked) return undefined;
    try {
      return await work();
    } finally {
      await session.query('select pg_advisory_unlock($1)', [LIVE_LOCK_FAMILY]);
    }
  });
}

/** Only one transaction at a time works on a scope, in whatever process. */
export async function lockScope(tx: Queryable, scope: AchScope): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [scope, LOCK_FAMILY]);
}

/** Each as its index says it, but for those that were sent, which most are. */
const WITH_STATUS: Readonly<Record<FileStatus, string>> = {
  rejected: 'refusal is not null',
  waiting: 'sent_at is null and refusal is null',
  sent: 'sent_at is not null and refusal is null',
};

/** Newest first. */
export async function listFiles(db: Queryable, filter: FileFilter): Promise<ListedFile[]> {
  const { rows } = await db.query<{
    id: string;
    scope: string;
    name: string;
    status: FileStatus;
    entries: number;
    debit_total: number;
    credit_total: number;
    as_of: Date;
    sent_at: Date | null;
    refusal: string | null;
  }>(
    `select id, scope, name, entries, debit_total, credit_total, as_of, sent_at, refusal,
       case when refusal is not null then 'rejected' when sent_at is null then 'waiting' else 'sent' end as status
     from ach_files
     where ${filter.status === null ? 'true' : WITH_STATUS[filter.status]}
       and ($1::timestamptz is null or (as_of >= $1 and as_of < $2)) and ($3::text is null or id < $3)
     order by id desc limit $4`,
    [filter.between?.from ?? null, filter.between?.to ?? null, filter.beforeId, filter.limit],
  );
  return rows.map((row) => ({
    id: row.id,
    scope: row.scope,
    name: row.name,
    status: row.status,
    entries: row.entries,
    debitTotal: row.debit_total,
    creditTotal: row.credit_total,
    asOf: row.as_of,
    sentAt: row.sent_at,
    rejection: row.refusal,
  }));
}
