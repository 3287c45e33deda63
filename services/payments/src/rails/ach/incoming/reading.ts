import { hash } from 'node:crypto';
import type { Queryable } from '@libs/db';
import type { MethodCorrection } from '../../../payment-methods/method.ts';
import type { Payment } from '../../../payments/payment.ts';
import type { NextAttempt, RailOutcome } from '../../rail.ts';
import type { InboundFile } from '../bank/transport.ts';
import { type Correction, returnReason } from '../codes/codes.ts';
import { findByTraces, findEntriesOf, insertEntries, updateEntries } from '../entries/entries-store.ts';
import { type AchEntry, methodIdOf, paymentKeyOf } from '../entries/entry.ts';
import { attemptsById, byAttempt, refundsFor } from '../entries/refunds.ts';
import { representmentOf, settlementAfter } from '../entries/representments.ts';
import { type AchScope, modeOfScope } from '../entries/scope.ts';
import type { Reply, ReturnReply } from '../nacha/replies.ts';
import { findTransactionCode } from '../nacha/transaction-codes.ts';
import { lockScope } from '../outgoing/files-store.ts';
import { legsOf, lockPaymentsOf, paymentOf } from '../outgoing/filing.ts';
import { connectionFor, overLine } from '../outgoing/sending.ts';
import { type AchContext, fileSealContext } from '../work/context.ts';
import { timeOf } from '../work/time.ts';
import {
  findAnswer,
  insertAnswer,
  insertReplies,
  type KnownAnswer,
  markAcknowledged,
  type StoredReply,
} from './answers-store.ts';
import { type Match, matchReplies, readReplies } from './matching.ts';

const SAME_DELIVERY_MS = 60_000;

/** What became of a file: a `known` one was read before and only its acknowledgement was lost. */
export type Reading = { status: 'read' } | { status: 'known' } | { status: 'unusable'; reason: string };

/** Fetches what the bank has for us and reads each file once. */
export async function readAnswers(context: AchContext, scope: AchScope, asOf: Date): Promise<void> {
  const transport = connectionFor(context, scope);
  for (const file of await overLine(context, scope, () => transport.collect(asOf))) {
    const reading = await context.database.transaction((tx) =>
      readAnswer(tx, context, { scope, file, asOf }),
    );
    if (reading.status === 'unusable') await quarantine(context, scope, file, reading.reason);
    await transport.acknowledge(file.name);
    await markAcknowledged(context.database, { scope, name: file.name }, context.now());
  }
}

/** Kept whole, sealed because it may hold account numbers, for a person to look at; nothing of it was applied. */
async function quarantine(
  context: AchContext,
  scope: AchScope,
  file: InboundFile,
  reason: string,
): Promise<void> {
  const id = `quarantine_${hash('sha256', `${scope}\n${file.name}\n${file.content}`, 'hex').slice(0, 32)}`;
  const item = { id, rail: 'ach', reason, receivedAt: context.now(), content: file.content } as const;
  await context.quarantine.putAside(context.database, [item]);
  const fields = { alert: 'rail_quarantine', rail: 'ach', scope, file: file.name, quarantine: id, reason };
  context.log.error(fields, 'a file from the bank was quarantined');
}

export interface AnswerToRead {
  scope: AchScope;
  file: InboundFile;
  asOf: Date;
}

/** Applies everything that the file says, or nothing. */
export async function readAnswer(
  tx: Queryable,
  context: AchContext,
  { scope, file, asOf }: AnswerToRead,
): Promise<Reading> {
  await lockScope(tx, scope);
  const contentHash = hash('sha256', file.content, 'buffer');
  const known = await findAnswer(tx, scope, contentHash);
  if (known && isSameDelivery(known, file, context.now())) return { status: 'known' };
  if (known) return { status: 'unusable', reason: `The same file was read before as ${known.name}.` };
  const originator = context.originators[modeOfScope(scope)];
  const read = readReplies(file.content, originator);
  if (!read.ok) return { status: 'unusable', reason: read.reason };
  const traces = read.replies.map((reply) => reply.originalTrace);
  const found = await findByTraces(tx, scope, traces);
  const matched = matchReplies(read.replies, found);
  if (!matched.ok) return { status: 'unusable', reason: matched.reason };
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
  await apply(tx, context, { scope, asOf, answerId: id, matches: matched.matches });
  return { status: 'read' };
}

/** Two workers may fetch a file at the same time, and an acknowledgement may be lost: neither is a replay. */
function isSameDelivery(known: KnownAnswer, file: InboundFile, now: Date): boolean {
  if (known.name !== file.name) return false;
  const { acknowledgedAt } = known;
  return acknowledgedAt === null || now.getTime() - acknowledgedAt.getTime() < SAME_DELIVERY_MS;
}

interface Applying {
  scope: AchScope;
  asOf: Date;
  answerId: string;
  matches: readonly Match[];
}

async function apply(tx: Queryable, context: AchContext, applying: Applying): Promise<void> {
  const { scope, asOf, answerId, matches } = applying;
  const payments = await lockPaymentsOf(
    tx,
    context,
    matches.map((match) => match.entry),
  );
  const returns = matches.filter(isReturn);
  const returned = returns.map(
    ({ entry, reply }): AchEntry => ({ ...entry, state: 'returned', returnCode: reply.code }),
  );
  await updateEntries(tx, returned);
  const siblings = returned.length === 0 ? [] : await findEntriesOf(tx, returned.map(paymentKeyOf));
  await followUp(tx, context, siblings, { scope, asOf });
  const again = await presentAgain(tx, context, { returns, payments, siblings, asOf });
  const stamp = await timeOf(context, tx, scope);
  for (const { entry, reply } of matches) {
    if (reply.kind !== 'noc') continue;
    const key = { tenantId: entry.tenantId, id: methodIdOf(paymentOf(payments, entry), entry.leg) };
    await context.applyCorrection(tx, key, toMethodCorrection(reply.correction), stamp.now);
  }
  await insertReplies(
    tx,
    matches.map((match) => toStoredReply(context, match, { answerId, asOf })),
  );
  const telling = returns.filter(({ entry }) => isNews(entry, paymentOf(payments, entry)));
  await context.applyOutcomes(tx, telling.flatMap(returnedOutcome(context, again)));
}

interface PresentingAgain {
  returns: readonly { entry: AchEntry; reply: ReturnReply }[];
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
  for (const { entry, reply } of returns) {
    const payment = paymentOf(payments, entry);
    const attempt = attempts.get(entry.attemptId);
    const legs = legsOf(payment);
    const debit =
      attempt && representmentOf({ entry, reply, payment, attempt }, { wanted, legs, asOf, newId, pace });
    if (!debit) continue;
    queued.push(debit);
    const settlesAt = settlementAfter(debit, legs, pace);
    next.set(entry.attemptId, { attemptId: debit.attemptId, settlesAt });
  }
  await insertEntries(tx, queued);
  return next;
}

/** A payment that is completed although this entry was still under way was completed by order: that stands. */
function isNews(entry: AchEntry, payment: Payment): boolean {
  return payment.status !== 'completed' || entry.state === 'settled';
}

function isReturn(match: Match): match is { entry: AchEntry; reply: ReturnReply } {
  return match.reply.kind === 'return';
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

function toMethodCorrection({
  routingNumber,
  accountNumber,
  name,
  transactionCode,
}: Correction): MethodCorrection {
  const account = transactionCode === undefined ? undefined : findTransactionCode(transactionCode)?.account;
  const accountType = account === 'checking' || account === 'savings' ? account : undefined;
  return {
    ...(routingNumber === undefined ? {} : { routingNumber }),
    ...(accountNumber === undefined ? {} : { accountNumber }),
    ...(name === undefined ? {} : { holderName: name }),
    ...(accountType === undefined ? {} : { accountType }),
  };
}

function toStoredReply(
  context: AchContext,
  { entry, reply }: { entry: AchEntry; reply: Reply },
  { answerId, asOf }: { answerId: string; asOf: Date },
): StoredReply {
  const { tenantId, paymentId, attemptId, leg } = entry;
  const { kind, code, originalTrace: trace } = reply;
  const id = context.newId('msg');
  return { tenantId, paymentId, id, attemptId, leg, kind, code, trace, answerId, createdAt: asOf };
}

function returnedOutcome(context: AchContext, again: ReadonlyMap<string, NextAttempt>) {
  return ({ entry, reply }: { entry: AchEntry; reply: ReturnReply }): RailOutcome[] => {
    const { tenantId, paymentId, attemptId, leg } = entry;
    if (leg === 'refund') {
      const fields = { rail: 'ach', paymentId, returnCode: reply.code };
      context.log.error(fields, 'a refund came back: the money is here and nobody can be paid');
      return [];
    }
    const { failureCode: code, title } = returnReason(reply.code);
    const who = leg === 'debit' ? 'source' : 'destination';
    const detail = `The bank of the ${who} returned the entry: ${title}.`;
    const next = again.get(attemptId);
    const said = { networkCode: reply.code, code, detail, ...(next && { again: next }) };
    return [{ tenantId, paymentId, attemptId, kind: 'returned', ...said }];
  };
}
