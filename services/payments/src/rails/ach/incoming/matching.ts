import { routingNumberOf } from '../../routing-number.ts';
import type { AchEntry } from '../entries/entry.ts';
import { directionOf } from '../entries/entry.ts';
import type { NachaFile } from '../nacha/model.ts';
import { readNacha } from '../nacha/read.ts';
import { type Reply, repliesOf } from '../nacha/replies.ts';
import type { Originator } from '../outgoing/files.ts';

/** From the text of a file to what it says of our entries, or to the reason why nothing of it may be believed. */

export type RepliesRead = { ok: true; replies: Reply[] } | { ok: false; reason: string };

const FAULTS_TOLD_MAX = 5;

export function readReplies(content: string, originator: Originator | null): RepliesRead {
  const read = readNacha(content);
  if (!read.ok) {
    const told = read.faults
      .slice(0, FAULTS_TOLD_MAX)
      .map(({ line, column, rule, detail }) => `line ${line}, column ${column}: ${rule} (${detail})`);
    const reason = `${read.faults.length} faults: ${told.join('; ')}`;
    return { ok: false, reason };
  }
  if (!originator || !isForUs(read.file, originator))
    return { ok: false, reason: 'The file is addressed to another bank.' };
  const replies = repliesOf(read.file);
  const entries = read.file.batches.reduce((sum, batch) => sum + batch.entries.length, 0);
  if (entries === 0) return { ok: false, reason: 'The file holds no entries.' };
  if (replies.length !== entries)
    return { ok: false, reason: 'The file holds entries that are no answers to ours.' };
  return { ok: true, replies };
}

/** Both the file and each entry in it must name the bank that sends our entries, or us. */
function isForUs({ header, batches }: NachaFile, originator: Originator): boolean {
  const bank = routingNumberOf(originator.odfi);
  const destination = header.immediateDestination.trim();
  if (destination !== bank && destination !== originator.immediateOrigin.trim()) return false;
  return batches.every(({ entries }) => entries.every((entry) => entry.routingNumber === bank));
}

export interface Match {
  entry: AchEntry;
  reply: Reply;
}

export type Matched = { ok: true; matches: Match[] } | { ok: false; reason: string };

/** Dishonored and contested returns are between banks: we have sent nothing that they could answer. */
const BETWEEN_BANKS = /^R[67]\d$/;

/**
 * Each reply needs the one entry that it can answer: by trace, bank, direction and amount, and not yet returned.
 * `found` has the latest first, so a number that came again means the latest.
 */
export function matchReplies(replies: readonly Reply[], found: readonly AchEntry[]): Matched {
  const byTrace = Map.groupBy(found, (entry) => entry.sentAs?.trace ?? '');
  const returned = new Set<AchEntry>();
  const matches: Match[] = [];
  for (const reply of replies) {
    const candidates = byTrace.get(reply.originalTrace) ?? [];
    if (candidates.length === 0) return refuse(reply, 'we have sent no such entry');
    if (BETWEEN_BANKS.test(reply.code)) return refuse(reply, `${reply.code} answers nothing that we sent`);
    const entry = candidates.find((candidate) => isAnsweredBy(candidate, reply));
    if (!entry) return refuse(reply, 'bank, direction or amount are not those of the entry');
    if (reply.kind === 'return') {
      if (!isReturnable(entry) || returned.has(entry)) return refuse(reply, `the entry is ${entry.state}`);
      returned.add(entry);
    }
    matches.push({ entry, reply });
  }
  return { ok: true, matches };
}

function refuse(reply: Reply, why: string): Matched {
  return { ok: false, reason: `A ${reply.kind} answers trace ${reply.originalTrace}: ${why}.` };
}

function isAnsweredBy(entry: AchEntry, reply: Reply): boolean {
  return (
    entry.sentAs?.rdfi === reply.originalRdfi &&
    directionOf(entry.leg) === reply.direction &&
    (reply.kind === 'noc' || entry.amount === reply.amountCents)
  );
}

function isReturnable({ state }: AchEntry): boolean {
  return state === 'sent' || state === 'settled' || state === 'overruled';
}
