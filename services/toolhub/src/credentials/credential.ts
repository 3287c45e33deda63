import type { ConnectorError } from '../connectors/connector.ts';
import type { InternalSession, Session } from '../customers/identity.ts';

export type CredentialStatus = 'connected' | 'expired';

/** Which credential. `slot` is empty for customers, and the account's name for the customer `internal`. */
export interface CredentialKey {
  customerId: string;
  platform: string;
  slot: string;
}

/** What may be shown of a credential. */
export interface CredentialRecord {
  platform: string;
  account: string;
  status: CredentialStatus;
  expiresAt: Date | null;
  updatedAt: Date;
}

export interface CredentialRow extends CredentialRecord, CredentialKey {
  sealed: Buffer;
  refreshable: boolean;
  version: number;
  seed: string | null;
}

export interface OpenInput {
  session: Session | InternalSession;
  platform: string;
  /** Chooses among the configured accounts of an internal session. */
  account?: string;
}

/** An opened credential, ready for a connector; `version` tells later whether it has been renewed since. */
export interface OpenedCredential {
  platform: string;
  /** Null for a configured account. */
  customerId: string | null;
  account: string;
  credential: unknown;
  version: number;
}

export type OpenResult =
  | { kind: 'ok'; opened: OpenedCredential }
  | { kind: 'not_connected' }
  /** Only the customer can help: connect anew. */
  | { kind: 'token_expired' }
  /** It has to be renewed and the platform cannot do that now; `error` tells when to come back. */
  | { kind: 'unavailable'; error: ConnectorError };

export const INTERNAL_CUSTOMER = 'internal';
