import type { Queryable } from '@libs/db';
import type { NewJob } from '@libs/jobs';
import type { Obstacle } from '../../../routing/decision.ts';
import type { Mode } from '../../../tenant.ts';
import type { RailLog } from '../../alert.ts';
import { MessageFieldError } from '../../iso20022/errors.ts';
import type { IsLostForGood } from '../../lost-keys.ts';
import type { MessageVault } from '../../message-vault.ts';
import type { Carrier, RailOutcome, RailRequest, RailSubmission } from '../../rail.ts';
import type { RtpConnection, RtpConnections, RtpIdentity } from '../lines/connection.ts';
import type { OutgoingMessage } from '../lines/transport.ts';
import { transferAsRead } from '../messages/credit-transfer.ts';
import { justWrittenTransfers } from '../messages/just-written.ts';
import { drawSerials, insertSubmissions, type NewSubmission } from '../submissions/store.ts';
import { startSubmission } from '../submissions/submission.ts';
import type { RtpTerms } from '../terms.ts';
import { askJob, sendJob, toPairs } from '../work/jobs.ts';
import {
  type OpenAccountNumber,
  type PartyOf,
  partiesOf,
  type WrittenTransfer,
  writeTransfer,
} from './outgoing.ts';

export interface RtpCarrierDependencies {
  terms: RtpTerms;
  connections: RtpConnections;
  openAccountNumber: OpenAccountNumber;
  isLostForGood: IsLostForGood;
  now: () => Date;
  newId: (prefix: string) => string;
  vault: MessageVault;
  log: RailLog;
}

/** The Clearing House's instant network: each payment is one message, final when the network accepts it. */
export function createRtpCarrier(deps: RtpCarrierDependencies): Carrier {
  return {
    id: 'rtp',

    possible(request) {
      const { feeCents, settlesInMs } = deps.terms;
      const settlesAt = new Date(request.at.getTime() + settlesInMs);
      return {
        rail: 'rtp',
        obstacles: obstaclesTo(request, deps),
        options: [{ fee: feeCents, settlesAt, sameDay: false }],
      };
    },

    async submit(tx, submissions) {
      const outcomes: RailOutcome[] = [];
      const jobs: NewJob[] = [];
      for (const [mode, group] of Map.groupBy(submissions, ({ payment }) => payment.mode)) {
        const connection = deps.connections[mode];
        if (!connection) {
          outcomes.push(...group.map((submission) => refusal(submission, NOT_CONFIGURED)));
          continue;
        }
        const written = await write(tx, deps, { mode, connection, group });
        outcomes.push(...written.outcomes);
        jobs.push(...written.jobs);
      }
      return { outcomes, jobs };
    },
  };
}

function obstaclesTo(request: RailRequest, { terms, connections }: RtpCarrierDependencies): Obstacle[] {
  const { source, destination } = request;
  const obstacles: Obstacle[] = [];
  if (source.type === 'balance' && destination.type === 'balance') obstacles.push('not_between_balances');
  if (source.type !== 'balance' && !source.railsSend.includes('rtp')) obstacles.push('source_cannot_send');
  if (destination.type !== 'balance' && !destination.railsReceive.includes('rtp'))
    obstacles.push('destination_cannot_receive');
  if (request.amount > terms.amountMax) obstacles.push('amount_over_limit');
  if (connections[request.mode] === null) obstacles.push('not_configured');
  return obstacles;
}

/** Definite refusals of our own: nothing was sent, so another rail may carry the payment. */
const NOT_CONFIGURED = { code: 'network_unavailable', detail: 'The instant network is not connected.' };
const NOT_WRITABLE = {
  code: 'message_refused',
  detail: 'The details of the payment do not fit a message of the instant network.',
};

function refusal(submission: RailSubmission, why: { code: string; detail: string }): RailOutcome {
  return { ...keyOf(submission), kind: 'rejected', networkCode: null, mayWorkElsewhere: true, ...why };
}

function keyOf({ payment, attemptId }: RailSubmission) {
  return { tenantId: payment.tenantId, paymentId: payment.id, attemptId };
}

interface Group {
  mode: Mode;
  connection: RtpConnection;
  group: readonly RailSubmission[];
}

/** A message and the instruction that it carries. */
interface Letter extends OutgoingMessage {
  row: NewSubmission;
  written: WrittenTransfer;
}

async function write(tx: Queryable, deps: RtpCarrierDependencies, { mode, connection, group }: Group) {
  const { identity } = connection;
  const serials = await drawSerials(tx, group.length);
  const partyOf = partiesOf(identity, deps.openAccountNumber);
  const outcomes: RailOutcome[] = [];
  const letters: Letter[] = [];
  for (const [index, submission] of group.entries()) {
    const serial = serials[index] as number;
    const written = tryToWrite(deps, submission, { identity, serial, partyOf });
    if (!written) {
      outcomes.push(refusal(submission, NOT_WRITABLE));
      continue;
    }
    const clockIsSet = submission.clock.state !== 'real';
    letters.push({ row: toRow(submission, written, deps), written, xml: written.xml, clockIsSet });
    const reference = written.transfer.instructionId;
    outcomes.push({ ...keyOf(submission), kind: 'submitted', reference, at: submission.at });
  }
  return { outcomes, jobs: await handOver(tx, deps, { mode, connection, letters }) };
}

/** A network in our own database has them with this transaction; any other gets them after it, by a job. */
async function handOver(
  tx: Queryable,
  deps: RtpCarrierDependencies,
  { mode, connection, letters }: { mode: Mode; connection: RtpConnection; letters: readonly Letter[] },
): Promise<NewJob[]> {
  if (letters.length === 0) return [];
  const rows = letters.map(({ row }) => row);
  const { takeWithin } = connection.transport;
  // Where tables are spread, its books lie on one server and would commit apart from the tenants' rows.
  if (!takeWithin || tx.isSpread) {
    await insertSubmissions(tx, rows, null);
    return [sendLater(deps, mode, letters)];
  }
  const submission = startSubmission(deps.now(), connection.policy);
  await insertSubmissions(tx, rows, submission);
  for (const { written } of letters)
    justWrittenTransfers.remember(written.xml, written.header, transferAsRead(written.transfer));
  await takeWithin(tx, letters);
  return [askJob({ mode, submissions: toPairs(rows) }, submission.dueAt ?? submission.firstSentAt)];
}

function sendLater({ vault }: RtpCarrierDependencies, mode: Mode, letters: readonly Letter[]): NewJob {
  for (const { row, xml } of letters) vault.remember(row.storedMessageId, xml);
  return sendJob({
    mode,
    messages: letters.map(({ row, clockIsSet }) => [row.tenantId, row.instructionId, clockIsSet ? 1 : 0]),
  });
}

/** Null for a payment that no message can carry; it must not hold up its neighbours. */
function tryToWrite(
  deps: RtpCarrierDependencies,
  submission: RailSubmission,
  context: { identity: RtpIdentity; serial: number; partyOf: PartyOf },
): WrittenTransfer | null {
  try {
    return writeTransfer(submission, context);
  } catch (error) {
    const isLost = deps.isLostForGood(error, submission.payment.mode);
    if (!isLost && !(error instanceof MessageFieldError)) throw error;
    deps.log.error({ err: error, payment: submission.payment.id }, 'a payment does not fit an RTP message');
    return null;
  }
}

function toRow(
  submission: RailSubmission,
  { transfer, xml }: WrittenTransfer,
  { newId, vault }: RtpCarrierDependencies,
): NewSubmission {
  const storedMessageId = newId('msg');
  return {
    ...keyOf(submission),
    instructionId: transfer.instructionId,
    storedMessageId,
    messageId: transfer.messageId,
    amountCents: transfer.amountCents,
    settlementDate: transfer.settlementDate,
    packedSealed: vault.seal({ tenantId: submission.payment.tenantId, id: storedMessageId }, xml),
    createdAt: submission.at,
  };
}
