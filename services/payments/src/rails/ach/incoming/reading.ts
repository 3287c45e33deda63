import { hash } from 'node:crypto';
import type { Queryable } from '@libs/db';
import type { Payment } from '../../../payments/payment.ts';
import type { WholeQuarantined } from '../../../quarantine/quarantine.ts';
import type { NextAttempt, RailOutcome } from '../../rail.ts';
import type { InboundFile } from '../bank/transport.ts';
import { findByTraces, findEntriesOf, insertEntries, updateEntries } from '../entries/entries-store.ts';
import { type AchEntry, paymentKeyOf, textKeyOf } from '../entries/entry.ts';
import { legsOf, lockPaymentsOf, paymentOf } from '../entries/payments.ts';
import { attemptsById, byAttempt, refundsFor } from '../entries/refunds.ts';
import { representmentOf, settlementAfter } from '../entries/representments.ts';
import { type AchScope, LIVE_SCOPE, modeOfScope } from '../entries/scope.ts';
import { type ReturnAnswer, readLoosely } from '../nacha/loose.ts';
import { lockScope } from '../outgoing/files-store.ts';
import { connectionFor, overLine } from '../outgoing/sending.ts';
import { isUntimely } from '../schedule/windows.ts';
import { type AchContext, fileSealContext } from '../work/context.ts';
import {
  findAnswer,
  insertAnswer,
  insertReplies,
  type KnownAnswer,
  markAcknowledged,
  type StoredReply,
} from './answers-store.ts';
import { correctMethods } from './corrections.ts';
import { changesMeant, type Match, matchAnswers, type PutAside } from './matching.ts';
import { appliedChanges } from './repeats.ts';
import { returnOutcome } from './returned.ts';

const SAME_DELIVERY_MS = 60_000;
/** A line that was away for a year of daily files is read in a few. */
const FETCHES_MAX = 200;

/** What became of a file: a `known` one was read before and only its acknowledgement was lost. */
export type Reading =
  | { status: 'read'; aside: readonly WholeQuarantined[] }
  | { status: 'known' }
  | { status: 'unusable'; reason: string };

/**
 * Fetches what the bank has for us, as often as that gives something, and reads each file once. Answers whether all is
 * read: until then nobody knows what came back.
 */
export async function readAnswers(context: AchContext, scope: AchScope, asOf: Date): Promise<boolean> {
  const transport = connectionFor(context, scope);
  for (let fetch = 0; fetch < FETCHES_MAX; fetch += 1) {
    const { files, isAll } = await overLine(context, scope, () => transport.collect(asOf));
    if (files.length === 0) return isAll;
    await readFiles(context, { scope, files, asOf });
  }
  return false;
}

async function readFiles(
  context: AchContext,
  { scope, files, asOf }: { scope: AchScope; files: readonly InboundFile[]; asOf: Date },
): Promise<void> {
  const transport = connectionFor(context, scope);
  for (const file of files) {
    const reading = await context.database.transaction((tx) =>
      readAnswer(tx, context, { scope, file, asOf }),
    );
    if (reading.status === 'unusable') await putAsideWhole(context, scope, file, reading.reason);
    if (reading.status === 'read') raiseAlerts(context, { scope, file, aside: reading.aside });
  }
  // All are read before: one that the bank keeps where it is must not keep others from being read.
  for (const { name } of files) {
    await transport.acknowledge(name);
    await markAcknowledged(context.database, { scope, name }, context.now());
  }
}

/** A file without a single entry, or one that came before: kept for a person to look at. */
async function putAsideWhole(
  context: AchContext,
  scope: AchScope,
  file: InboundFile,
  reason: string,
): Promise<void> {
  const item = asideOf(context, { scope, file, part: '' }, { text: file.content, reason });
  await context.quarantine.putAside(context.database, [item]);
  raiseAlerts(context, { scope, file, aside: [item] });
}

/** The id is made from what was received, so that a file that is fetched again puts nothing aside twice. */
function asideOf(
  { now }: AchContext,
  { scope, file, part }: { scope: AchScope; file: InboundFile; part: string },
  { text, reason }: PutAside,
): WholeQuarantined {
  const origin = hash('sha256', `${scope}\n${file.name}\n${part}\n${file.content}`, 'hex');
  const id = `quarantine_${origin.slice(0, 32)}`;
  return { id, rail: 'ach', mode: modeOfScope(scope), reason, receivedAt: now(), content: text };
}

function raiseAlerts(
  { log }: AchContext,
  { scope, file, aside }: { scope: AchScope; file: InboundFile; aside: readonly WholeQuarantined[] },
): void {
  for (const { id, reason } of aside) {
    const fields = { alert: 'rail_quarantine', rail: 'ach', scope, file: file.name, quarantine: id, reason };
    log.error(fields, 'something from the bank was quarantined');
  }
}

export interface AnswerToRead {
  scope: AchScope;
  file: InboundFile;
  asOf: Date;
}

/** Applies each entry that answers one of ours, and puts each other aside alone. */
export async function readAnswer(
  tx: Queryable,
  context: AchContext,
  { scope, file, asOf }: AnswerToRead,
): Promise<Reading> {
  await lockScope(tx, scope);
  const contentHash = hash('sha256', file.content, 'buffer');
  const known = await findAnswer(tx, scope, contentHash);
  if (known && isSameDelivery(known, file, context.now())) return { status: 'known' };
  const read = readLoosely(file.content);
  // That nothing came back may be said in the same words as often as a bank likes.
  if (known && read.ok && read.entries.length === 0) return { status: 'known' };
  if (known) return { status: 'unusable', reason: `The same file was read before as ${known.name}.` };
  if (!read.ok) return { status: 'unusable', reason: read.reason };
  const traces = read.entries.flatMap(({ answer }) => answer?.originalTrace ?? []);
  const found = await findByTraces(tx, scope, traces);
  const changed = await appliedChanges(tx, context, changesMeant(read.entries, found));
  const { matches, aside } = matchAnswers(read.entries, found, changed);
  const id = context.newId('ach');
  await insertAnswer(tx, {
    id,
    scope,
    name: file.name,
    contentHash,
    contentSealed: context.sealer.seal(file.content, fileSealContext(id)),
    asOf,
    createdAt: context.now(),
  });
  await applyAnswers(tx, context, { scope, asOf, answerId: id, matches });
  const items = aside.map((one, index) => asideOf(context, { scope, file, part: String(index) }, one));
  await context.quarantine.putAside(tx, items);
  return { status: 'read', aside: items };
}

/** Two workers may fetch a file at the same time, and an acknowledgement may be lost: neither is a replay. */
function isSameDelivery(known: KnownAnswer, file: InboundFile, now: Date): boolean {
  if (known.name !== file.name) return false;
  const { acknowledgedAt } = known;
  return acknowledgedAt === null || now.getTime() - acknowledgedAt.getTime() < SAME_DELIVERY_MS;
}

export interface Applying {
  scope: AchScope;
  asOf: Date;
  answerId: string;
  matches: readonly Match[];
}

/** The caller has locked the scope; payments are locked here. */
export async function applyAnswers(tx: Queryable, context: AchContext, applying: Applying): Promise<void> {
  const payments = new Map<string, Payment>();
  for (const matches of inTurns(applying.matches)) {
    for (const [key, payment] of await applyTurn(tx, context, { ...applying, matches }))
      payments.set(key, payment);
  }
  await correctMethods(tx, context, { ...applying, payments });
}

/** What is said twice of one payment is applied one after the other: what the second means depends on the first. */
function inTurns(matches: readonly Match[]): Match[][] {
  const turns: Match[][] = [];
  for (const said of Map.groupBy(matches, ({ entry }) => textKeyOf(paymentKeyOf(entry))).values()) {
    for (const [turn, match] of said.entries()) {
      const others = turns[turn] ?? [];
      others.push(match);
      turns[turn] = others;
    }
  }
  return turns;
}

/** Gives the payments, by their keys. */
async function applyTurn(
  tx: Queryable,
  context: AchContext,
  applying: Applying,
): Promise<ReadonlyMap<string, Payment>> {
  const { scope, asOf, answerId, matches } = applying;
  const payments = await lockPaymentsOf(
    tx,
    context,
    matches.map((match) => match.entry),
  );
  const returns = matches.filter(isReturn).map(
    ({ entry: before, answer }): Returned => ({
      before,
      answer,
      entry: { ...before, state: 'returned', returnCode: answer.code },
    }),
  );
  await updateEntries(
    tx,
    returns.map(({ entry }) => entry),
  );
  const keys = returns.map(({ entry }) => paymentKeyOf(entry));
  const siblings = returns.length === 0 ? [] : await findEntriesOf(tx, keys);
  await followUp(tx, context, siblings, { scope, asOf });
  const again = await presentAgain(tx, context, { returns, payments, siblings, asOf });
  await insertReplies(
    tx,
    matches.map((match) => toStoredReply(context, match, { answerId, asOf })),
  );
  await context.applyOutcomes(tx, outcomesOf(context, { returns, payments, siblings, again }));
  return payments;
}

interface Returned {
  /** As it was before it came back, and as it is now. */
  before: AchEntry;
  entry: AchEntry;
  answer: ReturnAnswer;
}

interface Telling {
  returns: readonly Returned[];
  payments: ReadonlyMap<string, Payment>;
  siblings: readonly AchEntry[];
  again: ReadonlyMap<string, NextAttempt>;
}

function outcomesOf({ log }: AchContext, { returns, payments, siblings, again }: Telling) {
  const attempts = attemptsById(siblings);
  return returns.flatMap(({ before, entry }) => {
    const attempt = attempts.get(entry.attemptId);
    if (!attempt) return [];
    const payment = paymentOf(payments, entry);
    const outcomes = returnOutcome({ before, entry, payment, attempt, again: again.get(entry.attemptId) });
    const fields = { rail: 'ach', paymentId: entry.paymentId, returnCode: entry.returnCode };
    if (entry.leg === 'refund')
      log.error(fields, 'a refund came back: the money is here and nobody can be paid');
    if (outcomes.some(isOwed)) {
      const message = 'a debit came back after its money was paid out';
      // In the sandbox it is a wish of its user.
      if (entry.scope === LIVE_SCOPE) log.error({ alert: 'ach_owed', ...fields }, message);
      else log.warn(fields, message);
    }
    return outcomes;
  });
}

function isOwed(outcome: RailOutcome): boolean {
  return outcome.kind === 'owed' || (outcome.kind === 'returned' && outcome.owed === true);
}

interface PresentingAgain {
  returns: readonly Returned[];
  payments: ReadonlyMap<string, Payment>;
  siblings: readonly AchEntry[];
  asOf: Date;
}

/** Queues what may be tried once more. Answers the next attempt of each attempt that came back, by its id. */
async function presentAgain(
  tx: Queryable,
  context: AchContext,
  { returns, payments, siblings, asOf }: PresentingAgain,
): Promise<ReadonlyMap<string, NextAttempt>> {
  const { pace, newId, representmentsWanted: wanted } = context;
  const attempts = attemptsById(siblings);
  const next = new Map<string, NextAttempt>();
  const queued: AchEntry[] = [];
  for (const { before: entry, answer } of returns) {
    const payment = paymentOf(payments, entry);
    const attempt = attempts.get(entry.attemptId);
    const legs = legsOf(payment);
    const debit =
      attempt && representmentOf({ entry, answer, payment, attempt }, { wanted, legs, asOf, newId, pace });
    if (!debit) continue;
    queued.push(debit);
    const settlesAt = settlementAfter(debit, payment, legs, pace);
    next.set(entry.attemptId, { attemptId: debit.attemptId, settlesAt });
  }
  await insertEntries(tx, queued);
  return next;
}

function isReturn(match: Match): match is { entry: AchEntry; answer: ReturnAnswer } {
  return match.answer.kind === 'return';
}

/** A debit that came back stops what it was to pay for; a credit that came back sends the debited money back. */
async function followUp(
  tx: Queryable,
  context: AchContext,
  siblings: readonly AchEntry[],
  { scope, asOf }: { scope: AchScope; asOf: Date },
): Promise<void> {
  const canceled = byAttempt(siblings)
    .flatMap((attempt) => attempt.toCancel())
    .map((entry): AchEntry => ({ ...entry, state: 'canceled' }));
  await updateEntries(tx, canceled);
  const refunds = refundsFor(siblings, { scope, from: asOf, pace: context.pace });
  await insertEntries(tx, refunds);
}

function toStoredReply(
  context: AchContext,
  { entry, answer }: Match,
  { answerId, asOf }: { answerId: string; asOf: Date },
): StoredReply {
  const { tenantId, paymentId, attemptId, leg } = entry;
  const { kind, code, originalTrace: trace } = answer;
  const untimely = kind === 'return' && isUntimely({ code, at: asOf, entry, terms: context.pace.terms });
  if (untimely) tellOfUntimely(context, entry, code);
  const id = context.newId('msg');
  return { tenantId, paymentId, id, attemptId, leg, kind, code, trace, untimely, answerId, createdAt: asOf };
}

function tellOfUntimely({ log }: AchContext, { scope, paymentId }: AchEntry, code: string): void {
  // In the sandbox it is a wish of its user.
  const alert = scope === LIVE_SCOPE && { alert: 'ach_untimely' };
  log.warn(
    { ...alert, rail: 'ach', paymentId, code },
    'a return came after its deadline and may be dishonored',
  );
}
