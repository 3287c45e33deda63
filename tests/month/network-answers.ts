import { enqueueJobs } from '@libs/jobs';
import { businessMessageId, messageId } from '../../services/payments/src/rails/rtp/identifiers.ts';
import { SANDBOX_IDENTITY } from '../../services/payments/src/rails/rtp/lines/connection.ts';
import type { CreditTransfer } from '../../services/payments/src/rails/rtp/messages/credit-transfer.ts';
import { readCreditTransfer } from '../../services/payments/src/rails/rtp/messages/read.ts';
import { buildStatusReport, reportOn } from '../../services/payments/src/rails/rtp/messages/status-report.ts';
import { readJobs } from '../../services/payments/src/rails/rtp/work/jobs.ts';
import type { Harness } from '../contract/payments/harness.ts';
import type { Order } from './orders.ts';

/*
 * An instant network that says everything twice, answers before it is asked, and now and then contradicts itself. Only
 * the first word counts; a contradiction is put aside.
 */

const PER_HOUR_MAX = 3;
const SOMETIMES = 0.2;
/** Hours in which it says everything once. */
const SELDOM = 0.6;
/** Far from the numbers that the network itself uses. */
let serial = 50_000_000;

export interface RepeatedAnswers {
  /** How many reports were delivered beside the network's own. */
  delivered: number;
  /** How many of them must be put aside. */
  planted: number;
}

interface Asked extends Order {
  id: string;
}

export async function answerAgain(
  { call, database }: Harness,
  { key, made, random }: { key: string; made: readonly Asked[]; random: () => number },
): Promise<RepeatedAnswers> {
  if (random() < SELDOM) return { delivered: 0, planted: 0 };
  const chosen = made.filter((one) => one.rail === 'rtp').slice(0, PER_HOUR_MAX);
  const messages: string[] = [];
  let planted = 0;
  for (const { id, destination } of chosen) {
    const transfer = await transferOf(call, key, id);
    if (!transfer) continue;
    const isRefused = destination.includes('_reject_');
    const report = reportOf(transfer, isRefused ? 'RJCT' : 'ACTC');
    messages.push(report, reportOf(transfer, isRefused ? 'RJCT' : 'ACTC'), report);
    if (random() < SOMETIMES && !isRefused) {
      messages.push(reportOf(transfer, 'RJCT'));
      planted += 1;
    }
  }
  await enqueueJobs(database, database.schema, readJobs('test', messages));
  return { delivered: messages.length, planted };
}

async function transferOf(call: Harness['call'], key: string, id: string): Promise<CreditTransfer | null> {
  const { body } = await call('GET', `/v1/payments/${id}/messages`, { key });
  const sent = body.data.find(({ kind }: { kind: string }) => kind === 'pacs.008');
  const read = sent && readCreditTransfer(sent.content);
  return read?.ok ? read.message : null;
}

function reportOf(transfer: CreditTransfer, status: 'ACTC' | 'RJCT'): string {
  serial += 1;
  const { network, participant } = SANDBOX_IDENTITY;
  const at = transfer.createdAt;
  const id = { date: at.slice(0, 10), participant: network, source: 'H', serial } as const;
  const header = {
    ...{ from: network, to: participant, createdAt: at, copy: null },
    businessMessageId: businessMessageId(id),
  };
  const said = { messageId: messageId(id), createdAt: at, acceptedAt: at, clearingReference: null, status };
  const reason = status === 'RJCT' ? { code: 'AC04', text: null } : null;
  return buildStatusReport(header, reportOn(transfer, { ...said, reason }));
}
