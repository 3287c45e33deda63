// Made from the OpenAPI document of the service; the test beside the generator says how to make it anew.

export type Mode = 'test' | 'live';

export type PaymentStatus = 'pending' | 'processing' | 'canceled' | 'failed' | 'completed' | 'returned';

export interface PaymentMethodReference {
  /** In test mode, any id that begins with `pm_` works at its first use. */
  payment_method_id: string;
}

export type RailChoice = 'auto' | 'rtp' | 'ach';

export type Rail = 'rtp' | 'ach' | 'book';

export type Preference = 'balanced' | 'speed' | 'cost';

export interface Money {
  /** Minor units: 1000 is 10.00 USD. */
  amount: number;
  currency: string;
}

export interface RailCandidate {
  /** A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances. */
  rail: Rail;
  possible: boolean;
  /** Why it is not possible. */
  reasons: string[];
  fee: Money | null;
  /** UTC, with milliseconds. */
  settles_at: string | null;
  /** Cents, the cost of the delay included; the lowest wins when balanced. */
  score: number | null;
}

export interface RailDecision {
  /** What `auto` looks at: the earliest settlement, the lowest fee, or both (fee and the cost of the delay). */
  prefer: Preference;
  /** A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances. */
  chosen: Rail;
  candidates: RailCandidate[];
}

export interface PaymentAttempt {
  id: string;
  /** A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances. */
  rail: Rail;
  /** `unknown`: the network did not answer in time, and is being asked; it is never paid a second way. */
  status: 'waiting' | 'submitted' | 'settled' | 'rejected' | 'returned' | 'unknown';
  /** By which the network knows it. */
  network_reference: string | null;
  /** UTC, with milliseconds. */
  submitted_at: string | null;
  /** UTC, with milliseconds. */
  settled_at: string | null;
  /** The network's code, where it refused or returned it. */
  code: string | null;
  detail: string | null;
}

export interface TimelineEntry {
  /** `pending`: accepted. `processing`: handed to the rail. `completed`: settled. `failed`: refused, nobody was paid. `returned`: came back after it was completed. `canceled`: by you, before it left. */
  status: PaymentStatus;
  /** UTC, with milliseconds. */
  timestamp: string;
}

export interface PaymentFailure {
  code: string;
  /** For example `AC04` or `R01`. */
  network_code: string | null;
  detail: string;
}

export interface Payment {
  id: string;
  object: 'payment';
  /** Test and live data never meet; the key decides. */
  mode: Mode;
  /** `pending`: accepted. `processing`: handed to the rail. `completed`: settled. `failed`: refused, nobody was paid. `returned`: came back after it was completed. `canceled`: by you, before it left. */
  status: PaymentStatus;
  /** Minor units: 1000 is 10.00 USD. */
  amount: number;
  currency: string;
  source: PaymentMethodReference;
  destination: PaymentMethodReference;
  /** `auto` lets the service choose; `rtp` is fast, `ach` is cheap. */
  rail: RailChoice;
  /** A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances. */
  rail_selected: Rail;
  /** Which rails were looked at, and why one was chosen. */
  rail_decision: RailDecision;
  attempts: PaymentAttempt[];
  /** Every state it entered, in order. */
  timeline: TimelineEntry[];
  failure: PaymentFailure | null;
  fee: Money;
  /** The payment that this one gives back. */
  refund_of: string | null;
  /** What refunds that did not fail take back of it. */
  refunded_amount: number;
  description: string | null;
  metadata: Record<string, string>;
  /** UTC, with milliseconds. */
  estimated_settlement_at: string;
  /** UTC, with milliseconds. */
  created_at: string;
  /** UTC, with milliseconds. */
  updated_at: string;
}

export interface Quote {
  object: 'quote';
  amount: number;
  currency: string;
  /** A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances. */
  rail_selected: Rail;
  fee: Money;
  /** UTC, with milliseconds. */
  estimated_settlement_at: string;
  /** Which rails were looked at, and why one was chosen. */
  rail_decision: RailDecision;
}

export interface RailMessage {
  id: string;
  object: 'rail_message';
  /** A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances. */
  rail: Rail;
  direction: 'out' | 'in';
  kind: 'pacs.008' | 'pacs.002' | 'pacs.028' | 'nacha' | 'return' | 'noc';
  /** The XML, or the lines of a NACHA file that concern this payment, with controls for these lines. */
  content: string;
  /** UTC, with milliseconds. */
  created_at: string;
}

export interface MethodRails {
  send: Rail[];
  receive: Rail[];
}

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
  /** Test and live data never meet; the key decides. */
  mode: Mode;
  type: 'bank_account' | 'balance';
  /** The rails that it can send and receive on. */
  rails: MethodRails;
  bank_account: BankAccount | null;
  balance: Balance | null;
  metadata: Record<string, string>;
  /** UTC, with milliseconds. */
  created_at: string;
  /** UTC, with milliseconds. */
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
  | 'payment.owed'
  | 'payment_method.created'
  | 'payment_method.updated'
  | 'payment_method.deleted'
  | 'webhook_endpoint.test'
  | 'webhook_endpoint.disabled';

export type EventChoice =
  | '*'
  | 'payment.pending'
  | 'payment.processing'
  | 'payment.completed'
  | 'payment.failed'
  | 'payment.returned'
  | 'payment.canceled'
  | 'payment.rerouted'
  | 'payment.owed'
  | 'payment_method.created'
  | 'payment_method.updated'
  | 'payment_method.deleted'
  | 'webhook_endpoint.test'
  | 'webhook_endpoint.disabled';

export interface WebhookEndpoint {
  id: string;
  object: 'webhook_endpoint';
  url: string;
  events: EventChoice[];
  description: string | null;
  status: 'enabled' | 'disabled';
  disabled_reason: 'gone' | 'failing' | 'manual' | null;
  /** UTC, with milliseconds. */
  created_at: string;
  /** UTC, with milliseconds. */
  updated_at: string;
}

export interface WebhookEndpointWithSecret {
  id: string;
  object: 'webhook_endpoint';
  url: string;
  events: EventChoice[];
  description: string | null;
  status: 'enabled' | 'disabled';
  disabled_reason: 'gone' | 'failing' | 'manual' | null;
  /** UTC, with milliseconds. */
  created_at: string;
  /** UTC, with milliseconds. */
  updated_at: string;
  /** Signs the webhooks; shown this once. */
  secret: string;
}

export interface DeliveryAttempt {
  /** UTC, with milliseconds. */
  at: string;
  /** The HTTP status, where there was an answer. */
  status: number | null;
  error: string | null;
  duration_ms: number;
  /** How the answer to a try that failed begins: at most 500 bytes. */
  response?: string | undefined;
}

export interface WebhookDelivery {
  id: string;
  object: 'webhook_delivery';
  event_id: string;
  /** What happened. */
  event_type: EventType;
  endpoint_id: string;
  /** `failed`: every retry was used up. `abandoned`: the endpoint was switched off or deleted. */
  status: 'pending' | 'delivered' | 'failed' | 'abandoned';
  attempts: DeliveryAttempt[];
  /** UTC, with milliseconds. */
  next_attempt_at: string | null;
  /** UTC, with milliseconds. */
  created_at: string;
}

export interface LedgerAccount {
  id: string;
  object: 'ledger_account';
  type: 'balance' | 'outside' | 'fees_owed' | 'fee_revenue' | 'owed';
  payment_method_id: string | null;
  currency: string;
  posted: number;
  /** Promised and not settled: what comes in less what goes out. */
  pending: number;
  /** Posted, less what is promised to payments on their way. */
  available: number;
  /** How far a return has taken the balance below zero. */
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
  /** Entries never change. `pending` promises an amount; a later entry of the payment, in the same direction, makes it so (`posted`) or takes the promise back (`released`). What is pending of an account are the promises that neither followed. */
  state: 'pending' | 'posted' | 'released';
  /** UTC, with milliseconds. */
  created_at: string;
}

export interface LedgerCheckResult {
  name: string;
  ok: boolean;
  detail: string;
}

export interface LedgerCheck {
  object: 'ledger_check';
  ok: boolean;
  checks: LedgerCheckResult[];
  /** UTC, with milliseconds. */
  checked_at: string;
}

export interface RailFees {
  rail: string;
  payments: number;
  amount: number;
}

export interface Fees {
  object: 'fees';
  month: string;
  currency: string;
  total: number;
  by_rail: RailFees[];
}

export interface SandboxClock {
  object: 'sandbox_clock';
  state: 'real' | 'frozen' | 'running';
  now: string;
}

export interface SandboxReset {
  object: 'sandbox_reset';
  reset_at: string;
}

export interface Routing {
  /** What `auto` looks at: the earliest settlement, the lowest fee, or both (fee and the cost of the delay). */
  prefer?: Preference | undefined;
  /** Whether ACH may take over when RTP definitely refuses; true with `auto`. */
  fallback?: boolean | undefined;
}

export interface CreatePayment {
  /** Minor units: 1000 is 10.00 USD. */
  amount: number;
  /** ISO 4217; the rails carry USD. */
  currency: string;
  source: PaymentMethodReference;
  destination: PaymentMethodReference;
  /** `auto` lets the service choose; `rtp` is fast, `ach` is cheap. */
  rail?: RailChoice | undefined;
  routing?: Routing | undefined;
  /** What it is for, in your words. */
  description?: string | undefined;
  /** Your own pairs of text. */
  metadata?: Record<string, string> | undefined;
}

export interface CreateRefund {
  /** Minor units; all that is left when absent. */
  amount?: number | undefined;
  description?: string | undefined;
  /** Your own pairs of text. */
  metadata?: Record<string, string> | undefined;
}

export interface NewBankAccount {
  routing_number: string;
  /** Sealed at once, and shown by its last four characters from then on. */
  account_number: string;
  account_type: 'checking' | 'savings';
  holder_name: string;
  holder_type: 'individual' | 'business';
}

export interface CreatePaymentMethodBankAccount {
  type: 'bank_account';
  bank_account: NewBankAccount;
  metadata?: Record<string, string> | undefined;
}

export interface CreatePaymentMethodBalance {
  type: 'balance';
  metadata?: Record<string, string> | undefined;
}

export type CreatePaymentMethod = CreatePaymentMethodBankAccount | CreatePaymentMethodBalance;

export interface CreateWebhookEndpoint {
  url: string;
  /** Types of events; `*`, the default, stands for all of them. */
  events?: EventChoice[] | undefined;
  description?: string | null | undefined;
}

export interface UpdateWebhookEndpoint {
  url?: string | undefined;
  /** Types of events; `*`, the default, stands for all of them. */
  events?: EventChoice[] | undefined;
  description?: string | null | undefined;
  status?: 'enabled' | 'disabled' | undefined;
}

export type ErrorCode =
  | 'already_member'
  | 'amount_too_large'
  | 'bad_request'
  | 'balance_not_empty'
  | 'body_too_large'
  | 'busy'
  | 'clock_backwards'
  | 'clock_too_far'
  | 'csrf'
  | 'currency_not_supported'
  | 'email_not_verified'
  | 'email_taken'
  | 'forbidden'
  | 'headers_too_large'
  | 'host_not_accepted'
  | 'idempotency_key_in_use'
  | 'idempotency_key_invalid'
  | 'idempotency_key_required'
  | 'idempotency_key_reused'
  | 'insufficient_funds'
  | 'insufficient_role'
  | 'insufficient_scope'
  | 'internal'
  | 'invalid_credentials'
  | 'invalid_header'
  | 'invalid_json'
  | 'invalid_query'
  | 'invalid_request'
  | 'invitation_for_another'
  | 'last_event_unknown'
  | 'last_owner'
  | 'last_passkey'
  | 'limit_reached'
  | 'link_not_valid'
  | 'live_access_required'
  | 'method_not_allowed'
  | 'metrics_token_required'
  | 'network_message_unknown'
  | 'no_organisation'
  | 'not_a_balance'
  | 'not_found'
  | 'not_ready'
  | 'organisation_switched'
  | 'overloaded'
  | 'passkey_not_valid'
  | 'passkey_refused'
  | 'passkey_required'
  | 'payment_method_in_use'
  | 'payment_method_not_found'
  | 'payment_not_cancelable'
  | 'payment_not_found'
  | 'payment_not_refundable'
  | 'person_required'
  | 'quarantine_not_applicable'
  | 'rail_not_available'
  | 'rail_not_configured'
  | 'rate_limited'
  | 'refund_exceeds_payment'
  | 'request_timeout'
  | 'same_payment_method'
  | 'shutting_down'
  | 'state_conflict'
  | 'too_many_logins'
  | 'too_many_passkeys'
  | 'too_many_streams'
  | 'unauthorized'
  | 'unsupported_api_version'
  | 'unsupported_media_type'
  | 'uri_too_long'
  | 'webhook_url_refused'
  | 'wrong_mode'
  | 'wrong_password';
