// What the API speaks is the client library's, which is made from the reference; sessions are the dashboard's own.
export type {
  EventType,
  Fees,
  LedgerAccount,
  LedgerCheck,
  LedgerEntry,
  Mode,
  Payment,
  PaymentAttempt,
  PaymentFailure,
  PaymentMethod,
  PaymentStatus,
  Quote,
  Rail,
  RailCandidate,
  RailDecision,
  RailMessage,
  SandboxClock,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from '../../../../sdks/node/src/types.ts';

export type Role = 'owner' | 'developer' | 'viewer';
export type LiveAccess = 'none' | 'requested' | 'approved' | 'refused';

export interface User {
  id: string;
  email: string;
  name: string;
  email_verified: boolean;
  operator: boolean;
  passkeys: number;
  /** A password alone does not let in. */
  passkey_required: boolean;
  created_at: string;
}

export interface Session {
  object: 'session';
  user: User;
  /** None for a person who has left the last one. */
  organisation: { id: string; name: string; role: Role; live_access: LiveAccess } | null;
  organisations: { id: string; name: string; role: Role }[];
}
