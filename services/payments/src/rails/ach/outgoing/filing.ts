import assert from 'node:assert/strict';
import type { Queryable } from '@libs/db';
import { toNewYork } from '../../../clock/new-york.ts';
import type { PaymentMethod } from '../../../payment-methods/method.ts';
import type { Payment } from '../../../payments/payment.ts';
import { openStatuses } from '../../../payments/states.ts';
import { parseTenantId } from '../../../tenant.ts';
import type { RailOutcome } from '../../rail.ts';
import { dfiOf } from '../../routing-number.ts';
import { findEntriesOf, findQueued, insertEntries, updateEntries } from '../entries/entries-store.ts';
import { type AchEntry, directionOf, methodIdOf, paymentKeyOf, textKeyOf } from '../entries/entry.ts';
import { legsOf, lockPaymentsOf, type PaymentsByKey, paymentOf } from '../entries/payments.ts';
import { refundsFor } from '../entries/refunds.ts';
import { type AchScope, followsClock, isCompressed, LIVE_SCOPE, modeOfScope } from '../entries/scope.ts';
import type { NachaFile } from '../nacha/model.ts';
import { writeNacha } from '../nacha/write.ts';
import { fileDatesOf, isWindowMissed, sharedMoment, timesOf } from '../schedule/schedule.ts';
import { type AchContext, fileSealContext } from '../work/context.ts';
import { notAhead } from '../work/time.ts';
import { FILE_LIMITS, type Originator, planFiles } from './files.ts';
import { insertFile, lockCounters, lockScope, saveCounters } from './files-store.ts';
import { type Leg, RETRY_DESCRIPTION } from './legs.ts';
import { sandboxOriginOf } from './originator.ts';
import { postpone, waitForTomorrow } from './postponing.ts';
import { achFileName, FILES_PER_DAY_MAX, reserveTraces } from './traces.ts';

/** One file is one transaction that locks all of its payments; what is more goes into the next. */
const ENTRIES_PER_FILE_MAX = 10_000;
/** A live day has 36 files; when most are used up, each takes more. */
const ENTRIES_PER_LATE_FILE_MAX = 50_000;
const FILES_BEFORE_LATE = 24;

/**
 * Puts what is due into one file. The file, its traces and the state of its payments commit together; it is sent
 * afterwards, by whoever finds it unsent. Answers how many entries were dealt with.
 */
export function fileDue(context: AchContext, scope: AchScope, wanted: Date): Promise<number> {
  return context.database.transaction(async (tx) => {
    await lockScope(tx, scope);
    const until = await notAhead(context, tx, { scope, asOf: wanted });
    const found = await findQueued(tx, { scope, asOf: until, limit: ENTRIES_PER_FILE_MAX });
    const [first] = found;
    if (!first) return 0;
    const asOf = filedAt(context, scope, { dueAt: first.dueAt, until });
    const queued = found.filter(({ dueAt }) => dueAt <= asOf);
    const { files } = await lockCounters(tx, scope, toNewYork(asOf).date);
    const needsMore = queued.length === ENTRIES_PER_FILE_MAX && files >= FILES_BEFORE_LATE;
    const due = takeOneFile(
      needsMore ? await findQueued(tx, { scope, asOf, limit: ENTRIES_PER_LATE_FILE_MAX }) : queued,
    );
    const payments = await lockPaymentsOf(tx, context, due);
    if (scope === LIVE_SCOPE && files >= FILES_PER_DAY_MAX) {
      await waitForTomorrow(tx, context, { entries: due, payments, asOf });
      return due.length;
    }
    const { going, missed, canceled } = sortOut(context, due, payments, asOf);
    await updateEntries(tx, canceled);
    await postpone(tx, context, { entries: missed, payments, from: asOf });
    if (going.length > 0) await writeFile(tx, context, { scope, asOf, entries: going, payments });
    return due.length;
  });
}

/** What a clock has passed leaves as of its own hour, also where it was queued while a later step was under way. */
function filedAt(
  { pace }: AchContext,
  scope: AchScope,
  { dueAt, until }: { dueAt: Date; until: Date },
): Date {
  if (!followsClock(scope)) return until;
  return isCompressed(scope) ? sharedMoment(dueAt, { until, sandboxMs: pace.sandboxMs }) : dueAt;
}

/** As many entries as the sums of one file can hold. */
function takeOneFile(queued: readonly AchEntry[]): AchEntry[] {
  let total = 0;
  const end = queued.findIndex((entry) => {
    total += entry.amount;
    return total > FILE_LIMITS.fileTotalMaxCents;
  });
  return end < 0 ? [...queued] : queued.slice(0, end);
}

/** Whether the payment still waits for what this entry does; a refund is owed whatever became of the payment. */
function isWanted(entry: AchEntry, payment: Payment): boolean {
  if (entry.leg === 'refund') return true;
  return openStatuses.includes(payment.status) && payment.attempts.at(-1)?.id === entry.attemptId;
}

/** Entries whose payment was canceled meanwhile stay here, and so do live ones that came too late for their window. */
function sortOut({ pace }: AchContext, due: readonly AchEntry[], payments: PaymentsByKey, asOf: Date) {
  const going: AchEntry[] = [];
  const missed: AchEntry[] = [];
  const canceled: AchEntry[] = [];
  for (const entry of due) {
    const isMissed = entry.scope === LIVE_SCOPE && isWindowMissed(entry.dueAt, asOf, pace.terms);
    if (!isWanted(entry, paymentOf(payments, entry))) canceled.push({ ...entry, state: 'canceled' });
    else if (isMissed) missed.push(entry);
    else going.push(entry);
  }
  return { going, missed, canceled };
}

interface Writing {
  scope: AchScope;
  asOf: Date;
  entries: readonly AchEntry[];
  payments: PaymentsByKey;
}

async function writeFile(tx: Queryable, context: AchContext, writing: Writing): Promise<void> {
  const { scope, asOf, entries, payments } = writing;
  const methods = await loadMethods(tx, context, writing);
  const legs = entries.map((entry) => toLeg(context, entry, { asOf, payments, methods }));
  const routingById = new Map(legs.map((leg) => [leg.id, leg.routing]));
  const originator = originatorOf(context, scope);
  const day = toNewYork(asOf).date;
  const counters = await lockCounters(tx, scope, day);
  const traces = reserveTraces(counters.lastTrace, legs.length);
  const numbered =
    scope === LIVE_SCOPE
      ? { originator, fileOfDay: counters.files }
      : sandboxOriginOf(originator, counters.files);
  const plan = planFiles({ ...numbered, legs, createdAt: asOf, firstTraceSequence: traces.first });
  assert(plan.files.length <= 1, 'what was taken fits one file');
  const fileId = context.newId('ach');
  const placed = new Map(plan.placements.map(({ legId, trace }) => [legId, trace]));
  const sent = entries.flatMap((entry): AchEntry[] => {
    const trace = placed.get(entry.paymentId);
    if (trace === undefined) return [];
    const rdfi = dfiOf(routingById.get(entry.paymentId) ?? '');
    const messageId = context.newId('msg');
    return [{ ...paced(entry, writing, context), state: 'sent', sentAs: { trace, rdfi, fileId, messageId } }];
  });
  const [file] = plan.files;
  if (file) {
    await keepFile(tx, context, { id: fileId, scope, asOf, file, entries: sent });
    await saveCounters(tx, scope, { lastTrace: plan.nextTraceSequence - 1, isLate: counters.isLate });
  }
  await updateEntries(tx, sent);
  const refusals = await refuse(tx, context, writing, plan.refused);
  await context.applyOutcomes(tx, [...sent.flatMap(submittedOutcome(asOf)), ...refusals]);
}

/** Where windows do not wait, the pace counts from the moment at which the file really leaves. */
function paced(entry: AchEntry, { asOf, payments }: Writing, { pace }: AchContext): AchEntry {
  if (!isCompressed(entry.scope)) return entry;
  const legs = legsOf(paymentOf(payments, entry));
  return { ...entry, ...timesOf({ ...entry, from: asOf, legs }, pace) };
}

function originatorOf(context: AchContext, scope: AchScope): Originator {
  const originator = context.originators[modeOfScope(scope)];
  assert(originator, `there is nobody to send ${modeOfScope(scope)} files for`);
  return originator;
}

type Methods = ReadonlyMap<string, PaymentMethod>;

async function loadMethods(tx: Queryable, context: AchContext, writing: Writing): Promise<Methods> {
  const keys = new Map(
    writing.entries.map((entry) => {
      const id = methodIdOf(paymentOf(writing.payments, entry), entry.leg);
      const key = { tenantId: entry.tenantId, id };
      return [textKeyOf(key), key];
    }),
  );
  const found = await context.findMethods(tx, [...keys.values()]);
  return new Map(found.map((method) => [textKeyOf(method), method]));
}

function toLeg(
  context: AchContext,
  entry: AchEntry,
  { asOf, payments, methods }: { asOf: Date; payments: PaymentsByKey; methods: Methods },
): Leg {
  const payment = paymentOf(payments, entry);
  const id = methodIdOf(payment, entry.leg);
  const method = methods.get(textKeyOf({ tenantId: entry.tenantId, id }));
  assert(method?.bank, `payment ${payment.id} names no bank account ${id}`);
  const { effectiveDate, descriptiveDate } = fileDatesOf(entry, asOf, context.pace.terms);
  return {
    id: payment.id,
    direction: directionOf(entry.leg),
    amountCents: entry.amount,
    routing: method.bank.routingNumber,
    account: openAccount(context, method),
    accountType: method.bank.accountType,
    holderName: method.bank.holderName,
    holderType: method.bank.holderType,
    effectiveDate,
    descriptiveDate,
    description: payment.description,
    ...wordsFor(entry),
  };
}

function wordsFor({ leg, presentment }: AchEntry): Pick<Leg, 'entryDescription'> {
  if (leg === 'refund') return { entryDescription: 'REFUND' };
  return presentment > 0 ? { entryDescription: RETRY_DESCRIPTION } : {};
}

/** What nobody will open any more is refused as an account without a number, or one such account would stop all. */
function openAccount(context: AchContext, method: PaymentMethod): string {
  try {
    return context.openAccountNumber(method);
  } catch (error) {
    if (!context.isLostForGood(error, parseTenantId(method.tenantId).mode)) throw error;
    context.log.error({ rail: 'ach', methodId: method.id }, 'an account number can no longer be opened');
    return '';
  }
}

interface Keeping {
  id: string;
  scope: AchScope;
  asOf: Date;
  file: NachaFile;
  entries: readonly AchEntry[];
}

async function keepFile(
  tx: Queryable,
  context: AchContext,
  { id, scope, asOf, file, entries }: Keeping,
): Promise<void> {
  const { immediateOrigin, idModifier } = file.header;
  const total = (direction: 'debit' | 'credit') =>
    entries.reduce((sum, { leg, amount }) => sum + (directionOf(leg) === direction ? amount : 0), 0);
  await insertFile(tx, {
    id,
    scope,
    name: achFileName({ origin: immediateOrigin, date: toNewYork(asOf).date, modifier: idModifier }),
    contentSealed: context.sealer.seal(writeNacha(file), fileSealContext(id)),
    entries: entries.length,
    debitTotal: total('debit'),
    creditTotal: total('credit'),
    asOf,
    createdAt: context.now(),
  });
}

/** The first entry of an attempt hands the payment to the rail; what follows changes nothing in its state. */
function submittedOutcome(at: Date): (entry: AchEntry) => RailOutcome[] {
  return (entry) => {
    if (entry.leg === 'refund' || !entry.sentAs) return [];
    const { tenantId, paymentId, attemptId } = entry;
    return [{ tenantId, paymentId, attemptId, kind: 'submitted', reference: entry.sentAs.trace, at }];
  };
}

/** Entries that no bank would take: their payments fail, and what was collected for them goes back. */
async function refuse(
  tx: Queryable,
  context: AchContext,
  { scope, asOf, entries }: Writing,
  refused: readonly { legId: string; reasons: readonly string[] }[],
): Promise<RailOutcome[]> {
  if (refused.length === 0) return [];
  const reasonsById = new Map(refused.map(({ legId, reasons }) => [legId, reasons]));
  const canceled = entries
    .filter((entry) => reasonsById.has(entry.paymentId))
    .map((entry): AchEntry => ({ ...entry, state: 'canceled' }));
  await updateEntries(tx, canceled);
  const siblings = await findEntriesOf(tx, canceled.map(paymentKeyOf));
  await insertEntries(tx, refundsFor(siblings, { scope, from: asOf, pace: context.pace }));
  return canceled.flatMap((entry): RailOutcome[] => {
    const reasons = reasonsById.get(entry.paymentId) ?? [];
    const { tenantId, paymentId, attemptId, leg } = entry;
    if (leg === 'refund') {
      context.log.error({ rail: 'ach', paymentId, reasons }, 'a refund cannot be written: see to it by hand');
      return [];
    }
    return [
      {
        tenantId,
        paymentId,
        attemptId,
        kind: 'rejected',
        networkCode: null,
        code: reasons[0] ?? 'entry_refused',
        detail: `The entry cannot be sent: ${reasons.join(', ')}.`,
        mayWorkElsewhere: false,
      },
    ];
  });
}
