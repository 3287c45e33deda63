import type { Queryable } from '@libs/db';
import type { NewJob } from '@libs/jobs';
import type { PaymentMethod } from '../../../payment-methods/method.ts';
import type { Obstacle } from '../../../routing/decision.ts';
import type { Mode } from '../../../tenant.ts';
import type { RailLog } from '../../alert.ts';
import { MessageFieldError } from '../../iso20022/errors.ts';
import type { MessageVault } from '../../message-vault.ts';
import type { Carrier, RailOutcome, RailRequest, RailSubmission } from '../../rail.ts';
import type { RtpConnections, RtpIdentity } from '../lines/connection.ts';
import { drawSerials, insertSubmissions, type NewSubmission } from '../submissions/store.ts';
import type { RtpTerms } from '../terms.ts';
import { type SendPayload, sendJob } from '../work/jobs.ts';
import { type OpenAccountNumber, type WrittenTransfer, writeTransfer } from './outgoing.ts';

export interface RtpCarrierDependencies {
  terms: RtpTerms;
  connections: RtpConnections;
  openAccountNumber: OpenAccountNumber;
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
        const identity = deps.connections[mode]?.identity;
        if (!identity) {
          outcomes.push(...group.map((submission) => refusal(submission, NOT_CONFIGURED)));
          continue;
        }
        const written = await write(tx, deps, { mode, identity, group });
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
  identity: RtpIdentity;
  group: readonly RailSubmission[];
}

async function write(tx: Queryable, deps: RtpCarrierDependencies, { mode, identity, group }: Group) {
  const serials = await drawSerials(tx, group.length);
  const openAccountNumber = openEachOnce(deps.openAccountNumber);
  const outcomes: RailOutcome[] = [];
  const rows: NewSubmission[] = [];
  const messages: SendPayload['messages'] = [];
  for (const [index, submission] of group.entries()) {
    const serial = serials[index] as number;
    const written = tryToWrite(deps, submission, { identity, serial, openAccountNumber });
    if (!written) {
      outcomes.push(refusal(submission, NOT_WRITABLE));
      continue;
    }
    rows.push(toRow(submission, written, deps));
    const reference = written.transfer.instructionId;
    const clockIsSet = submission.clock.state === 'real' ? 0 : 1;
    messages.push([submission.payment.tenantId, reference, clockIsSet]);
    outcomes.push({ ...keyOf(submission), kind: 'submitted', reference, at: submission.at });
  }
  await insertSubmissions(tx, rows);
  return { outcomes, jobs: messages.length === 0 ? [] : [sendJob({ mode, messages })] };
}

/** Payments of one batch often share an account, and opening an envelope costs more than writing a message. */
function openEachOnce(open: OpenAccountNumber): OpenAccountNumber {
  const opened = new Map<PaymentMethod, string>();
  return (method) => {
    const known = opened.get(method);
    if (known !== undefined) return known;
    const number = open(method);
    opened.set(method, number);
    return number;
  };
}

/** Null for a payment that no message can carry; it must not hold up its neighbours. */
function tryToWrite(
  deps: RtpCarrierDependencies,
  submission: RailSubmission,
  context: { identity: RtpIdentity; serial: number; openAccountNumber: OpenAccountNumber },
): WrittenTransfer | null {
  try {
    return writeTransfer(submission, context);
  } catch (error) {
    if (!(error instanceof MessageFieldError)) throw error;
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
  vault.remember(storedMessageId, xml);
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
