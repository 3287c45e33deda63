// The shapes of the API, with the names that they have on the wire.

export type Mode = 'test' | 'live';
export type Rail = 'rtp' | 'ach' | 'book';
export type PaymentStatus = 'pending' | 'processing' | 'completed' | 'failed' | 'canceled' | 'returned';
export type Metadata = Record<string, string>;

export interface Money {
  amount: number;
  currency: string;
}

export interface PaymentMethodReference {
  payment_method_id: string;
}

export interface Routing {
  prefer?: 'balanced' | 'speed' | 'cost';
  /** Whether ACH may take over when RTP definitely refuses; true with `auto`. */
  fallback?: boolean;
}

export interface CreatePayment {
  /** Minor units: 1000 is 10.00 USD. */
  amount: number;
  /** ISO 4217; the rails carry USD. */
  currency: string;
  source: PaymentMethodReference;
  destination: PaymentMethodReference;
  /** `auto` lets the service choose; `rtp` is fast, `ach` is cheap. */
  rail?: 'auto' | 'rtp' | 'ach';
  routing?: Routing;
  description?: string;
  metadata?: Metadata;
}

export interface CreateRefund {
  /** What is left of the payment, where it is absent. */
  amount?: number;
  description?: string;
  metadata?: Metadata;
}

export interface RailCandidate {
  rail: Rail;
  possible: boolean;
  /** Why it is not possible. */
  reasons: string[];
  fee: Money | null;
  settles_at: string | null;
  /** Cents, the cost of the delay included; the lowest wins when balanced. */
  score: number | null;
}

export interface RailDecision {
  prefer: 'balanced' | 'speed' | 'cost';
  chosen: Rail;
  candidates: RailCandidate[];
}

export interface PaymentAttempt {
  id: string;
  rail: Rail;
  status: 'waiting' | 'submitted' | 'settled' | 'rejected' | 'returned' | 'unknown';
  network_reference: string | null;
  submitted_at: string | null;
  settled_at: string | null;
  code: string | null;
  detail: string | null;
}

export interface TimelineEntry {
  status: PaymentStatus;
  timestamp: string;
}

export interface PaymentFailure {
  code: string;
  network_code: string | null;
  detail: string;
}

export interface Payment {
  id: string;
  object: 'payment';
  mode: Mode;
  status: PaymentStatus;
  amount: number;
  currency: string;
  source: PaymentMethodReference;
  destination: PaymentMethodReference;
  rail: 'auto' | 'rtp' | 'ach';
  rail_selected: Rail;
  rail_decision: RailDecision;
  attempts: PaymentAttempt[];
  timeline: TimelineEntry[];
  failure: PaymentFailure | null;
  fee: Money;
  description: string | null;
  metadata: Metadata;
  /** The payment that this one gives back. */
  refund_of?: string | null;
  /** What refunds that did not fail add up to. */
  refunded_amount?: number;
  estimated_settlement_at: string;
  created_at: string;
  updated_at: string;
}

export interface Quote {
  object: 'quote';
  amount: number;
  currency: string;
  rail_selected: Rail;
  fee: Money;
  estimated_settlement_at: string;
  rail_decision: RailDecision;
}

export interface RailMessage {
  id: string;
  object: 'rail_message';
  rail: Rail;
  direction: 'out' | 'in';
  kind: 'nacha' | 'return' | 'noc' | 'pacs.008' | 'pacs.002' | 'pacs.028';
  /** The XML, or the lines of a NACHA file that concern this payment. */
  content: string;
  created_at: string;
}

export interface NewBankAccount {
  routing_number: string;
  /** Sealed at once, and shown by its last four characters from then on. */
  account_number: string;
  account_type: 'checking' | 'savings';
  holder_name: string;
  holder_type: 'individual' | 'business';
}

export type CreatePaymentMethod =
  | { type: 'bank_account'; bank_account: NewBankAccount; metadata?: Metadata }
  | { type: 'balance'; metadata?: Metadata };

export interface BankAccount {
  routing_number: string;
  last4: string;
  account_type: 'checking' | 'savings';
  holder_name: string;
  holder_type: 'individual' | 'business';
  /** The same for every payment method with this account. */
  fingerprint: string;
}

export interface Balance {
  currency: string;
  posted: number;
  pending: number;
  available: number;
  /** What a return took beyond what was there. */
  owed: number;
}

export interface PaymentMethod {
  id: string;
  object: 'payment_method';
  mode: Mode;
  type: 'bank_account' | 'balance';
  rails: { send: Rail[]; receive: Rail[] };
  bank_account: BankAccount | null;
  balance: Balance | null;
  metadata: Metadata;
  created_at: string;
  updated_at: string;
}

export type EventType =
  | 'payment.pending'
  | 'payment.processing'
  | 'payment.completed'
  | 'payment.failed'
  | 'payment.returned'
  | 'payment.canceled'
  | 'payment.rerouted'
  | 'payment_method.created'
  | 'payment_method.updated'
  | 'payment_method.deleted'
  | 'webhook_endpoint.test'
  | 'webhook_endpoint.disabled';

export interface CreateWebhookEndpoint {
  url: string;
  /** `*`, the default, stands for all of them. */
  events?: (EventType | '*')[];
  description?: string | null;
}

export interface UpdateWebhookEndpoint {
  url?: string;
  events?: (EventType | '*')[];
  description?: string | null;
  status?: 'enabled' | 'disabled';
}

export interface WebhookEndpoint {
  id: string;
  object: 'webhook_endpoint';
  url: string;
  events: (EventType | '*')[];
  description: string | null;
  status: 'enabled' | 'disabled';
  disabled_reason: 'gone' | 'failing' | 'manual' | null;
  created_at: string;
  updated_at: string;
}

export interface WebhookEndpointWithSecret extends WebhookEndpoint {
  /** Signs the webhooks; shown this once. */
  secret: string;
}

export interface DeliveryAttempt {
  at: string;
  /** The HTTP status, where there was an answer. */
  status: number | null;
  error: string | null;
  duration_ms: number;
}

export interface WebhookDelivery {
  id: string;
  object: 'webhook_delivery';
  event_id: string;
  event_type: EventType;
  endpoint_id: string;
  /** `failed`: every retry was used up. `abandoned`: the endpoint was switched off or deleted. */
  status: 'pending' | 'delivered' | 'failed' | 'abandoned';
  attempts: DeliveryAttempt[];
  next_attempt_at: string | null;
  created_at: string;
}

export interface LedgerAccount {
  id: string;
  object: 'ledger_account';
  type: string;
  payment_method_id: string | null;
  currency: string;
  posted: number;
  /** Promised and not settled: what comes in less what goes out. */
  pending: number;
  /** Posted, less what is promised to payments on their way. */
  available: number;
  owed: number;
}

export interface LedgerEntry {
  id: string;
  object: 'ledger_entry';
  transaction_id: string;
  payment_id: string | null;
  account_id: string;
  direction: 'debit' | 'credit';
  amount: number;
  state: 'pending' | 'posted' | 'released';
  created_at: string;
}

export interface LedgerCheck {
  object: 'ledger_check';
  ok: boolean;
  checks: { name: string; ok: boolean; detail: string }[];
  checked_at: string;
}

export interface Fees {
  object: 'fees';
  month: string;
  currency: string;
  total: number;
  by_rail: { rail: Rail; payments: number; amount: number }[];
}

export interface SandboxClock {
  object: 'sandbox_clock';
  state: 'real' | 'frozen' | 'running';
  now: string;
}
