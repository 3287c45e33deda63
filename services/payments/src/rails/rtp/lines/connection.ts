import type { Mode } from '../../../tenant.ts';
import { type InquiryPolicy, LIVE_POLICY, SANDBOX_POLICY } from '../submissions/submission.ts';
import type { RtpTransport } from './transport.ts';

/** How we appear in the network: the sponsor bank that sends for us, and its account that holds balances. */
export interface RtpIdentity {
  readonly participant: string;
  /** The network's own participant, to which messages are addressed. */
  readonly network: string;
  readonly routingNumber: string;
  readonly accountNumber: string;
  readonly accountName: string;
}

export const SANDBOX_NETWORK = '990000001T1';

export const SANDBOX_IDENTITY: RtpIdentity = {
  participant: '110000026T1',
  network: SANDBOX_NETWORK,
  routingNumber: '110000026',
  accountNumber: '100000000001',
  accountName: 'Sandbox Sponsor Bank',
};

/** One network that we are connected to. */
export interface RtpConnection {
  readonly identity: RtpIdentity;
  readonly policy: InquiryPolicy;
  readonly transport: RtpTransport;
}

/** Null where a mode has no network: the sandbox is switched off, or the gateway is not configured. */
export type RtpConnections = Readonly<Record<Mode, RtpConnection | null>>;

/** The sandbox never forgets what it has seen, so a message may be sent again as often as it takes. */
const SANDBOX_RESENDS_MAX = 10;

export function sandboxConnection(transport: RtpTransport): RtpConnection {
  const policy = { ...SANDBOX_POLICY, resendsMax: SANDBOX_RESENDS_MAX };
  return { identity: SANDBOX_IDENTITY, policy, transport };
}

export function liveConnection(identity: RtpIdentity, transport: RtpTransport): RtpConnection {
  return { identity, policy: LIVE_POLICY, transport };
}
