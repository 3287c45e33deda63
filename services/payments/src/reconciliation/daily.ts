import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { attemptAll } from '@libs/jobs';
import { addDays, fromNewYork, toNewYork } from '../clock/new-york.ts';
import type { RailLog } from '../rails/alert.ts';
import type { RailId } from '../rails/rail-ids.ts';
import type { Mode } from '../tenant.ts';
import { compareOneDay, type DayComparison } from './comparison.ts';
import { daysBetween, daysStillChanging } from './days.ts';
import {
  countOpenDifferences,
  findDaysWithDifferences,
  findOpenDifferences,
  resolveDifferences,
  saveSeenDifferences,
} from './differences-store.ts';
import { type DayQuery, type Difference, MODES, type ReconciledRail } from './reconciliation.ts';
import { findLastRun, findUnfinishedDays, noteTold, saveReport, saveRun } from './store.ts';
import { compareWithStored, keyOfDifference, withoutRepeats } from './stored-difference.ts';

/** Of each list of a day. More wait until some of these are gone; the count in the log tells of all. */
const DIFFERENCES_STORED_MAX = 2_000;
/** As many are kept in the report of a day, and named in a line of the log. */
const DIFFERENCES_REPORTED_MAX = 500;
const DIFFERENCES_LOGGED_MAX = 20;
/** Beside the last days, of each sort. A return names a day of the last sixty or so. */
const OTHER_DAYS_MAX = 400;
/** Whatever was being written when the last run began is looked at by the next. */
const OVERLAP_MS = 3_600_000;
/** An answer that lies at the network and is being read looks like a difference, and is none a moment later. */
const SECOND_LOOK_AFTER_MS = 10_000;
/** What users of a sandbox bring about by returns that come late, and by telling how a payment ends. */
const ORDERED_KINDS: ReadonlySet<Difference['kind']> = new Set([
  'paid_but_debit_returned',
  'refunded_but_debit_returned',
  'collected_but_not_refunded',
  'ended_by_order',
]);

export interface DailyLookDependencies {
  database: Database;
  now: () => Date;
  newId: (prefix: string) => string;
  log: RailLog;
  rails: readonly ReconciledRail[];
  secondLookAfterMs?: number;
}

interface Books {
  rail: ReconciledRail;
  mode: Mode;
}

/**
 * Looks at every day whose outcomes can still change: the last ones, and older ones on which something stands or
 * changed. Each day is compared, stored and reported by itself, so a run that is cut off is simply made again; books that
 * cannot be read keep no others from being looked at.
 */
export async function lookAtAllBooks(deps: DailyLookDependencies, signal: AbortSignal): Promise<void> {
  const all = deps.rails.flatMap((rail) => MODES.map((mode): Books => ({ rail, mode })));
  await attemptAll(
    all.map((books) => () => lookAtBooks(deps, books, signal)),
    { signal },
  );
}

async function lookAtBooks(deps: DailyLookDependencies, books: Books, signal: AbortSignal): Promise<void> {
  const { database, secondLookAfterMs = SECOND_LOOK_AFTER_MS } = deps;
  const startedAt = deps.now();
  const recent = daysStillChanging(toNewYork(startedAt).date);
  const older = await olderDays(deps, books, recent[0] as DayQuery['day']);
  const unsure: { day: DayQuery['day']; news: ReadonlySet<string> }[] = [];
  for (const day of [...older, ...recent]) {
    signal.throwIfAborted();
    const comparison = await compareOneDay(database, { ...books, day }, DIFFERENCES_STORED_MAX);
    const news = await newsAmong(deps, comparison, { isOld: older.includes(day) });
    if (news.size === 0) await record(deps, comparison, news);
    else unsure.push({ day, news });
  }
  if (unsure.length > 0) await sleep(secondLookAfterMs, undefined, { signal });
  for (const { day, news } of unsure) {
    signal.throwIfAborted();
    await record(deps, await compareOneDay(database, { ...books, day }, DIFFERENCES_STORED_MAX), news);
  }
  const key = { rail: books.rail.id, mode: books.mode };
  await saveRun(database, key, startedAt);
  await tellOfStanding(deps, key, startedAt);
}

/**
 * Once a day, however often the look is made again. In a sandbox it is no alarm: its users order returns that leave
 * something owed, and the first line of each told of it.
 */
async function tellOfStanding(
  { database, log }: DailyLookDependencies,
  key: { rail: RailId; mode: Mode },
  startedAt: Date,
): Promise<void> {
  const counts = await countOpenDifferences(database, startedAt);
  const standing = counts.find(({ rail, mode }) => rail === key.rail && mode === key.mode);
  if (!standing || !(await noteTold(database, key, toNewYork(startedAt).date))) return;
  if (key.mode === 'live') log.error({ alert: 'books_differ', ...standing }, 'books still differ');
  else log.warn({ ...standing }, 'books still differ');
}

/**
 * Days before the recent ones on which something stands, an outcome is missing, or an answer has come since the last run,
 * and those that no run has looked at, where the last one is long ago.
 */
async function olderDays(
  { database, log }: DailyLookDependencies,
  { rail, mode }: Books,
  before: DayQuery['day'],
): Promise<DayQuery['day'][]> {
  const asked = { rail: rail.id, mode, before, limit: OTHER_DAYS_MAX };
  const lastRun = await findLastRun(database, asked);
  const since = new Date((lastRun ?? fromNewYork(before, '00:00')).getTime() - OVERLAP_MS);
  const firstMissed = lastRun === null ? before : addDays(toNewYork(lastRun).date, -1);
  const lists = await database.transaction(
    async (tx) => [
      await findDaysWithDifferences(tx, asked),
      await findUnfinishedDays(tx, asked),
      await rail.books.answeredDays(tx, { mode, since, before, limit: OTHER_DAYS_MAX }),
      daysBetween(firstMissed, before, OTHER_DAYS_MAX),
    ],
    { readOnly: true, report: true },
  );
  if (lists.some((days) => days.length === OTHER_DAYS_MAX))
    log.error({ alert: 'books_differ', rail: rail.id, mode }, 'more old days wait than one run looks at');
  return [...new Set(lists.flat())].sort();
}

/** Keys of what is not stored as standing. */
async function newsAmong(
  { database }: DailyLookDependencies,
  { report: { day, rail, mode }, found }: DayComparison,
  { isOld }: { isOld: boolean },
): Promise<ReadonlySet<string>> {
  const differences = withoutRepeats(found);
  const open = await findOpenDifferences(database, { rail, mode, day }, differences);
  const { news } = compareWithStored(differences, open, { isWhole: false });
  // What a reset of the sandbox put away is removed here and stays with the simulated network.
  const believed = news.filter(({ kind }) => !(isOld && mode === 'test' && kind === 'missing_here'));
  return new Set(believed.map(keyOfDifference));
}

/** Stores what stands, what is new and was expected to be, and what is gone. */
async function record(
  { database, now, newId, log }: DailyLookDependencies,
  { report, found, isWhole, isUnfinished }: DayComparison,
  expected: ReadonlySet<string>,
): Promise<void> {
  const { day, rail, mode, differenceCount } = report;
  const at = now();
  const differences = withoutRepeats(found);
  const news = await database.transaction(async (tx) => {
    const open = await findOpenDifferences(tx, { rail, mode, day }, differences);
    const compared = compareWithStored(differences, open, { isWhole });
    const confirmed = compared.news.filter((difference) => expected.has(keyOfDifference(difference)));
    await saveSeenDifferences(tx, {
      ...{ rail, mode, day, at, newId: () => newId('rdf') },
      differences: [...compared.standing, ...confirmed],
    });
    await resolveDifferences(tx, compared.gone, at);
    const listed = report.differences.slice(0, DIFFERENCES_REPORTED_MAX);
    await saveReport(tx, { ...report, differences: listed }, { at, isUnfinished });
    return confirmed;
  });
  if (news.length === 0) return;
  const alert = !(mode === 'test' && news.every(isOrdered)) && { alert: 'books_differ' };
  const fields = { ...alert, day, rail, mode, differenceCount, firstSeen: news.length };
  log.error({ ...fields, differences: news.slice(0, DIFFERENCES_LOGGED_MAX).map(toLogged) }, 'books differ');
}

function isOrdered({ kind }: Difference): boolean {
  return ORDERED_KINDS.has(kind);
}

function toLogged({ kind, reference, tenantId, paymentId }: Difference) {
  return { kind, reference, tenantId, paymentId };
}
