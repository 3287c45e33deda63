/** Prices and limits of the network. Data, because networks and contracts change them. */
export interface RtpTerms {
  feeCents: number;
  amountMax: number;
  settlesInMs: number;
}

export const RTP_TERMS: RtpTerms = { feeCents: 45, amountMax: 10_000_000_00, settlesInMs: 5_000 };
