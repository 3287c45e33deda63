import type { Queryable } from '@libs/db';
import { linePaceOf } from '../bank/connections.ts';
import type { AchTransport, SendResult } from '../bank/transport.ts';
import { delayOf } from '../entries/delays.ts';
import { findInFile, updateEntries } from '../entries/entries-store.ts';
import type { AchEntry } from '../entries/entry.ts';
import { legsOf, lockPaymentsOf, paymentOf } from '../entries/payments.ts';
import { type AchScope, LIVE_SCOPE, modeOfScope } from '../entries/scope.ts';
import { goodAtOf, isWindowMissed, settlesAfterLateArrival } from '../schedule/schedule.ts';
import { type AchContext, fileSealContext } from '../work/context.ts';
import { findFiles, findUnsent, lockScope, markSent, markUploaded, type StoredFile } from './files-store.ts';
import { refuseEntries } from './rejecting.ts';

const FILES_PER_TURN_MAX = 1_000;
const REASONS_KEPT_MAX = 10;

/** No bank is connected for this scope; its payments were accepted when one was. */
export class AchNotConnected extends Error {
  override readonly name = 'AchNotConnected';
}

export function connectionFor(context: AchContext, scope: AchScope): AchTransport {
  const transport = context.transportFor(scope);
  if (!transport) throw new AchNotConnected(`no bank takes the files of ${scope}`);
  return transport;
}

/**
 * Hands over every file that was written and not confirmed. A process may die between handing over and noting it: the
 * name is the same at the next try, so the bank takes it once.
 */
export async function sendFiles(context: AchContext, scope: AchScope): Promise<void> {
  for (let turn = 0; turn < FILES_PER_TURN_MAX; turn += 1) {
    const file = await findUnsent(context.database, scope);
    if (!file) return;
    const result = await handOver(context, file);
    if (result.ok) await noteSent(context, file);
    else await noteRefused(context, file, result.reasons);
  }
}

async function handOver(context: AchContext, file: StoredFile): Promise<SendResult> {
  const { scope, name, asOf, isUploaded } = file;
  const content = openFile(context, file);
  if (content === undefined) return { ok: false, reasons: ['The file can no longer be opened.'] };
  const noteUploaded = () => markUploaded(context.database, file.id, context.now());
  const transport = connectionFor(context, scope);
  return overLine(context, scope, () => transport.send({ name, content, asOf, isUploaded, noteUploaded }));
}

/**
 * In the sandbox, in the transaction of an order: hands over a file that was written a moment ago and is still on its way, since
 * the operator can say nothing of what it does not have. The file comes again as any that was sent twice.
 */
export async function handOverToOperator(context: AchContext, tx: Queryable, fileId: string): Promise<void> {
  const [file] = await findFiles(tx, [fileId]);
  if (!file || file.isSent) return;
  const { scope, name, asOf } = file;
  const content = openFile(context, file);
  if (content !== undefined)
    await context.operator?.receiveFile(tx, scope, linePaceOf(scope), { name, content, asOf });
}

/** A file that nobody will open any more must not hold up all others; one that may be at the bank is for a person to judge. */
function openFile(context: AchContext, file: StoredFile): string | undefined {
  try {
    return context.sealer.openText(file.contentSealed, fileSealContext(file.id));
  } catch (error) {
    const mayHaveLeft = file.scope === LIVE_SCOPE && file.isUploaded;
    if (mayHaveLeft || !context.isLostForGood(error, modeOfScope(file.scope))) throw error;
    return undefined;
  }
}

/** Uses the line to the bank; whether the live one works decides whether the rail is chosen. */
export async function overLine<T>(context: AchContext, scope: AchScope, work: () => Promise<T>): Promise<T> {
  if (scope !== LIVE_SCOPE) return work();
  try {
    const result = await work();
    await context.health.reportSuccess('ach', 'live', 'connection');
    return result;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    await context.health.reportFailure('ach', 'live', { cause: 'unreachable', detail, decisive: false });
    throw error;
  }
}

async function noteSent(context: AchContext, file: StoredFile): Promise<void> {
  const { terms } = context.pace;
  const at = context.now();
  await context.database.transaction(async (tx) => {
    await lockScope(tx, file.scope);
    const isFirst = await markSent(tx, file.id, { at, refusal: null });
    if (!isFirst || file.scope !== LIVE_SCOPE) return;
    // What reached the bank after its deadline settles with the next window, whatever the file says.
    const late = (await findInFile(tx, file.id)).filter(({ dueAt }) => isWindowMissed(dueAt, at, terms));
    const moved = late.map((entry) => {
      const settlesAt = settlesAfterLateArrival(entry, at, terms);
      return { ...entry, settlesAt, goodAt: goodAtOf(entry.leg, settlesAt, terms) };
    });
    await updateEntries(tx, moved);
    await noteDelays(context, tx, moved);
    if (moved.length > 0)
      context.log.warn({ rail: 'ach', file: file.name, entries: moved.length }, 'a file missed its window');
  });
}

async function noteDelays(context: AchContext, tx: Queryable, entries: readonly AchEntry[]): Promise<void> {
  const payments = await lockPaymentsOf(tx, context, entries);
  const { pace } = context;
  await context.applyOutcomes(
    tx,
    entries.flatMap((entry) => {
      const payment = paymentOf(payments, entry);
      return delayOf(entry, { payment, legs: legsOf(payment), pace });
    }),
  );
}

/** The bank took nothing of it: every payment in it fails, and what was collected for them goes back. */
async function noteRefused(context: AchContext, file: StoredFile, reasons: readonly string[]): Promise<void> {
  const { scope } = file;
  const refusal = reasons.slice(0, REASONS_KEPT_MAX).join(' ');
  context.log.error({ rail: 'ach', file: file.name, reasons: refusal }, 'a bank refused a file');
  await context.database.transaction(async (tx) => {
    await lockScope(tx, scope);
    if (!(await markSent(tx, file.id, { at: context.now(), refusal }))) return;
    const entries = await findInFile(tx, file.id);
    const payments = await lockPaymentsOf(tx, context, entries);
    await refuseEntries(context, tx, { scope, entries, payments, from: file.asOf });
  });
}
