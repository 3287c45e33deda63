/** A message that a vendor sent for an account of a customer. */
export interface ArrivedMessage {
  account: string;
  key: string;
  channel: string;
  sentAt: Date;
  receivedAt: Date;
  /** The vendor's own object. */
  message: Record<string, unknown>;
}

export interface ArrivedQuery {
  customerId: string;
  platform: string;
  channel: string | undefined;
  since: Date | undefined;
  /** The last message of the page before. */
  before: { sentAt: Date; account: string; key: string } | undefined;
  limit: number;
}
