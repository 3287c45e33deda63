import type { RailLog } from '../../alert.ts';
import { ANSWER_JOB, type SandboxRtpNetwork } from '../network/network.ts';
import { SEND_JOB } from '../work/jobs.ts';
import type { RtpTransport } from './transport.ts';

const IN_FLIGHT_MAX = 2_000;

export interface SandboxTransportDependencies {
  network: Pick<SandboxRtpNetwork, 'receive'>;
  /** How long the network takes for an organisation that has set no clock; with one, nobody waits. */
  answerMs: number;
  log: RailLog;
}

export function createSandboxTransport({
  network,
  answerMs,
  log,
}: SandboxTransportDependencies): RtpTransport {
  return {
    inFlightMax: IN_FLIGHT_MAX,
    // Under load the sandbox is late because we are: what waits in these jobs is no silence of a network.
    answerJobs: [SEND_JOB, ANSWER_JOB],
    async send(messages) {
      const receipts = await network.receive(
        messages.map(({ xml, clockIsSet }) => ({ xml, answerAfterMs: clockIsSet ? 0 : answerMs })),
      );
      return receipts.map((receipt) => {
        if (receipt.ok) return { kind: 'delivered', answers: [] };
        log.error({ alert: 'rtp_refused', reason: receipt.reason }, 'the sandbox refused a message of ours');
        return { kind: 'unknown', reason: receipt.reason };
      });
    },
  };
}
