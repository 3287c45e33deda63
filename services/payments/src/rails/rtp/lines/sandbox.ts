import type { RailLog } from '../../alert.ts';
import { ANSWER_JOB, type SandboxRtpNetwork } from '../network/network.ts';
import { SEND_JOB } from '../work/jobs.ts';
import type { OutgoingMessage, RtpTransport } from './transport.ts';

const IN_FLIGHT_MAX = 2_000;

export interface SandboxTransportDependencies {
  network: Pick<SandboxRtpNetwork, 'receive' | 'receiveWithin'>;
  /** How long the network takes for an organisation that has set no clock; with one, nobody waits. */
  answerMs: number;
  log: RailLog;
}

export function createSandboxTransport({
  network,
  answerMs,
  log,
}: SandboxTransportDependencies): RtpTransport {
  const toReceived = ({ xml, clockIsSet }: OutgoingMessage) => ({
    xml,
    answerAfterMs: clockIsSet ? 0 : answerMs,
  });
  const reportRefusal = (reason: string) =>
    log.error({ alert: 'rtp_refused', reason }, 'the sandbox refused a message of ours');
  return {
    inFlightMax: IN_FLIGHT_MAX,
    // Under load the sandbox is late because we are: what waits in these jobs is no silence of a network.
    answerJobs: [SEND_JOB, ANSWER_JOB],
    async send(messages) {
      const receipts = await network.receive(messages.map(toReceived));
      return receipts.map((receipt) => {
        if (receipt.ok) return { kind: 'delivered', answers: [] };
        reportRefusal(receipt.reason);
        return { kind: 'unknown', reason: receipt.reason };
      });
    },
    async takeWithin(tx, messages) {
      const receipts = await network.receiveWithin(tx, messages.map(toReceived));
      // A transfer that it refused is asked after like one that was lost.
      for (const receipt of receipts) if (!receipt.ok) reportRefusal(receipt.reason);
    },
  };
}
