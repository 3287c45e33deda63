import { realTimeOf, type SandboxClock } from '../../../clock/clock.ts';
import { findFilesToSettle, nextEntryAt } from '../entries/entries-store.ts';
import { type AchScope, followsClock, isCompressed, LIVE_SCOPE } from '../entries/scope.ts';
import { readAnswers } from '../incoming/reading.ts';
import { fileDue } from '../outgoing/filing.ts';
import { connectionFor, sendFiles } from '../outgoing/sending.ts';
import { sharedMoment } from '../schedule/schedule.ts';
import type { AchContext } from './context.ts';
import { settleDue } from './settling.ts';
import { timeOf } from './time.ts';

/** A clock that jumps over a year of daily payments needs about a thousand. */
const STEPS_MAX = 2_000;
const BITES_PER_STEP_MAX = 10_000;
/** Without a clock something may be due every millisecond; what falls due within this is done together. */
const SHARED_PAUSE_MS = 25;
/** A payment of two legs leaves, is good, leaves again and settles: three pauses between four hours. */
const PAUSES_PER_HURRIED_WAY = 3;
const HURRIED_STRIDE_MS = 3_600_000;
/** Longer than a file must lie still before it is read, and not so short that one that nobody can read is asked for all the time. */
const UNREAD_PAUSE_MS = 30_000;

/**
 * Does everything in a scope that has become due, in the order of its times. Each step is a transaction of its own
 * that finds out anew what is due, so a process may die anywhere, and two may work side by side.
 * Answers the real time at which it should be called again, or null where nothing waits or the clock stands still.
 */
export async function tick(context: AchContext, scope: AchScope): Promise<Date | null> {
  // A bank puts its files there at times of its own.
  if (scope === LIVE_SCOPE) await readOrGoOnBlind(context);
  let firstDue: Date | null = null;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    // Nothing is settled before the files that could be answered with returns have left.
    await sendFiles(context, scope);
    const { clock, now } = await timeOf(context, context.database, scope);
    const due = await nextDueAt(context, scope);
    if (due === null) return null;
    const hurries = isHurried(scope, clock);
    firstDue ??= due;
    const isOfThisTurn = hurries && due.getTime() <= firstDue.getTime() + HURRIED_STRIDE_MS;
    if (due > now && !isOfThisTurn)
      return hurries
        ? pauseAfter(context)
        : wakeAt(scope, realTimeOf(clock, due, context.now()), context.now());
    const asOf = stepTime(scope, { due, now, sandboxMs: context.pace.sandboxMs });
    const isAllRead = await takeStep(context, scope, asOf);
    if (!isAllRead) {
      await sendFiles(context, scope);
      return new Date(context.now().getTime() + UNREAD_PAUSE_MS);
    }
  }
  return context.now();
}

/**
 * A clock that was set free makes ACH fast again, also for what began by the calendar while it stood. That goes through
 * the same hours in the same order, ahead of the clock: an hour in which something is due at each turn, with a pause after it.
 */
function isHurried(scope: AchScope, clock: SandboxClock): boolean {
  return followsClock(scope) && !isCompressed(scope) && clock.state === 'running';
}

function pauseAfter({ now, pace }: AchContext): Date {
  return new Date(now().getTime() + Math.max(SHARED_PAUSE_MS, pace.sandboxMs / PAUSES_PER_HURRIED_WAY));
}

/** What must leave leaves, also while nobody knows what came back; nothing settles meanwhile. */
async function readOrGoOnBlind(context: AchContext): Promise<void> {
  try {
    await readAnswers(context, LIVE_SCOPE, context.now());
  } catch (error) {
    await sendFiles(context, LIVE_SCOPE);
    await inBites(() => fileDue(context, LIVE_SCOPE, context.now()));
    await sendFiles(context, LIVE_SCOPE);
    throw error;
  }
}

interface StepQuestion {
  due: Date;
  now: Date;
  sandboxMs: number;
}

/** As of when a step happens. */
function stepTime(scope: AchScope, { due, now, sandboxMs }: StepQuestion): Date {
  if (!isCompressed(scope)) return followsClock(scope) ? due : now;
  return sharedMoment(due, { until: now, sandboxMs });
}

async function nextDueAt(context: AchContext, scope: AchScope): Promise<Date | null> {
  const entry = await nextEntryAt(context.database, scope);
  const answer = await connectionFor(context, scope).nextAnswerAt();
  if (entry === null || answer === null) return entry ?? answer;
  return new Date(Math.min(entry.getTime(), answer.getTime()));
}

/**
 * What comes back at an hour is read before what settles at that hour, and both before the next file leaves. Another
 * worker may send a file meanwhile, whose answers this one has not fetched: it settles in the next step. What is not read
 * yet may be the return of any: then nothing settles. Answers whether all was read.
 */
async function takeStep(context: AchContext, scope: AchScope, asOf: Date): Promise<boolean> {
  const fileIds = await findFilesToSettle(context.database, { scope, asOf });
  const isAllRead = await readAnswers(context, scope, asOf);
  if (isAllRead && fileIds.length > 0) await inBites(() => settleDue(context, { scope, asOf, fileIds }));
  await inBites(() => fileDue(context, scope, asOf));
  return isAllRead;
}

async function inBites(bite: () => Promise<number>): Promise<void> {
  for (let count = 0; count < BITES_PER_STEP_MAX; count += 1) {
    if ((await bite()) === 0) return;
  }
}

function wakeAt(scope: AchScope, at: Date | null, now: Date): Date | null {
  if (at === null || !isCompressed(scope)) return at;
  return new Date(Math.max(at.getTime(), now.getTime() + SHARED_PAUSE_MS));
}
