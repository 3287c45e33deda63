import type { Queryable } from '@libs/db';
import { behaviourOf } from '../../payment-methods/test-accounts.ts';
import type { Payment } from '../../payments/payment.ts';
import type { RailDependencies } from '../dependencies.ts';
import { rejectedByOrder, settledByOrder } from '../forced.ts';
import { lostForGood } from '../lost-keys.ts';
import { createMessageVault } from '../message-vault.ts';
import type { ForcedMeaning, ForcedOrder, ForcedOutcome, Rail, RailInbound, RailOutcome } from '../rail.ts';
import { applyReport, lockInstructionsOf } from './answers/applying.ts';
import { readReceived } from './answers/read.ts';
import { rtpBooks } from './books/books.ts';
import { REJECT_REASONS, rejectReason } from './codes.ts';
import { shownMessages } from './kept/kept-messages.ts';
import {
  liveConnection,
  type RtpConnection,
  type RtpConnections,
  SANDBOX_NETWORK,
  sandboxConnection,
} from './lines/connection.ts';
import { createRtpGateway, type RtpGateway } from './lines/gateway.ts';
import { createSandboxTransport } from './lines/sandbox.ts';
import type { RtpTransport } from './lines/transport.ts';
import { readStatusReport } from './messages/read.ts';
import { accountMarks } from './network/account-marks.ts';
import { createSandboxRtpNetwork, type DeliverAnswers, type SandboxRtpNetwork } from './network/network.ts';
import { createRtpCarrier } from './sending/orders.ts';
import { findOwners, writeReferenceAgain } from './submissions/store.ts';
import type { InquiryPolicy } from './submissions/submission.ts';
import { RTP_TERMS } from './terms.ts';
import { createRtpHandlers } from './work/handlers.ts';
import { readJobs, receivedText } from './work/jobs.ts';

const REJECT_DEFAULT = 'AC04';

/** What a test puts in the place of our bank, or between us and the sandbox's network. */
export interface RtpTrial {
  live?: RtpConnection;
  wrap?: (transport: RtpTransport) => RtpTransport;
  policy?: Partial<InquiryPolicy>;
  /** Takes the sandbox's answers on another way than within the job that makes them. */
  deliver?: DeliverAnswers;
}

/** The Clearing House's instant network, and the simulated one of the sandbox. */
export async function createRail(deps: RailDependencies, trial: RtpTrial = {}): Promise<Rail> {
  const { config, database, now, newId, log, paymentMethods, clocks, quarantine, health } = deps;
  const vault = createMessageVault(deps.sealer);
  const network = createSandboxRtpNetwork({
    database,
    participant: SANDBOX_NETWORK,
    behaviourOf,
    marks: accountMarks(deps.sealer),
    now,
  });
  const gateway = await openGateway(config.rails.rtp);
  const connections: RtpConnections = {
    test: config.sandbox.on ? sandboxLine(network, deps, trial) : null,
    live: trial.live ?? (gateway && deps.bank.rtp ? liveConnection(deps.bank.rtp, gateway) : null),
  };
  const { openAccountNumber } = paymentMethods;
  return {
    ...createRtpCarrier({
      ...{ terms: RTP_TERMS, connections, openAccountNumber, now, newId, vault, log },
      isLostForGood: lostForGood(config.lostKeyIds),
    }),
    messageKinds: ['pacs.008', 'pacs.002', 'pacs.028'],
    books: rtpBooks,
    inbound: inboundOf(config.rails.rtp.inboundToken),
    meaningOf,
    messagesOf: (db, key) => shownMessages(db, vault, key),
    work({ applyOutcomes }) {
      const context = {
        ...{ database, connections, applyOutcomes, clocks, health },
        ...{ now, newId, vault, quarantine, log },
      };
      const readAtOnce: DeliverAnswers = (tx, messages) =>
        readReceived(
          context,
          tx,
          messages.map((xml) => ({ mode: 'test', xml })),
        );
      const answers = network.handlers(trial.deliver ?? readAtOnce, (lists) => findOwners(database, lists));
      return {
        handlers: [...createRtpHandlers(context), ...answers],
        cron: [],
        // The sandbox's network answers at once, whatever the clock shows.
        whenClockMoves: () => [],
        async lockFor(tx, payment) {
          await lockInstructionsOf(tx, payment);
        },
        applyAside: (tx, payment, content) => applyReport(context, tx, payment, content),
        force: (tx, payment, order) => force(network, tx, payment, order),
      };
    },
    async close() {
      gateway?.close();
    },
  };
}

function sandboxLine(
  network: SandboxRtpNetwork,
  { config, log }: RailDependencies,
  { wrap, policy }: RtpTrial,
): RtpConnection {
  const transport = createSandboxTransport({ network, answerMs: config.sandbox.rtpMs, log });
  const line = sandboxConnection(wrap ? wrap(fromOutside(transport)) : transport);
  return { ...line, policy: { ...line.policy, ...policy } };
}

/** What a test puts in between makes it a network outside: messages leave after the commit. */
function fromOutside({ inFlightMax, answerJobs, send }: RtpTransport): RtpTransport {
  return { inFlightMax, answerJobs, send };
}

/** Live alone: the sandbox's network answers within the house. */
function inboundOf(token: string | undefined): RailInbound | null {
  if (token === undefined) return null;
  return {
    token,
    jobsFor(message) {
      const xml = receivedText(message);
      const reading = readStatusReport(xml);
      if (reading.ok) return { ok: true, jobs: readJobs('live', [xml]) };
      const { reason, detail } = reading.refusal;
      return { ok: false, reason: `${reason}: ${detail}` };
    },
  };
}

async function openGateway(options: RailDependencies['config']['rails']['rtp']): Promise<RtpGateway | null> {
  if (options.gatewayUrl === undefined) return null;
  return createRtpGateway({ ...options, url: options.gatewayUrl });
}

function meaningOf(outcome: ForcedOutcome, code: string | null): ForcedMeaning {
  if (outcome === 'settle') return { ok: true, meaning: null };
  if (outcome !== 'reject') return { ok: false, reason: 'not_on_this_rail' };
  const networkCode = code ?? REJECT_DEFAULT;
  if (!REJECT_REASONS.has(networkCode)) return { ok: false, reason: 'code_unknown' };
  const { failureCode, title } = rejectReason(networkCode);
  return { ok: true, meaning: { networkCode, code: failureCode, detail: title } };
}

/** A transfer that the network has, or gets later, is given the same end there. */
async function force(
  network: SandboxRtpNetwork,
  tx: Queryable,
  payment: Payment,
  { outcome, meaning, at }: ForcedOrder,
): Promise<RailOutcome[]> {
  const isSettled = outcome === 'settle';
  const reference = payment.attempts.at(-1)?.network_reference;
  const code = meaning?.networkCode ?? REJECT_DEFAULT;
  if (reference) {
    await writeReferenceAgain(tx, reference);
    await network.order(tx, reference, isSettled ? { status: 'ACTC' } : { status: 'RJCT', code });
  }
  return isSettled ? settledByOrder(payment, at) : rejectedByOrder(payment, meaning);
}
