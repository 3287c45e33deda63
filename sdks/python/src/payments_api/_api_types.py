"""Made from the OpenAPI document of the service; the test beside the generator says how to make it anew."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from ._objects import ApiObject

__all__ = [
    "Balance",
    "BankAccount",
    "CreatePayment",
    "CreatePaymentMethod",
    "CreatePaymentMethodBalance",
    "CreatePaymentMethodBankAccount",
    "CreateRefund",
    "CreateWebhookEndpoint",
    "DeliveryAttempt",
    "ErrorCode",
    "EventChoice",
    "EventType",
    "Fees",
    "LedgerAccount",
    "LedgerCheck",
    "LedgerCheckResult",
    "LedgerEntry",
    "MethodRails",
    "MethodSide",
    "Mode",
    "Money",
    "NewBankAccount",
    "Payment",
    "PaymentAttempt",
    "PaymentFailure",
    "PaymentMethod",
    "PaymentMethodReference",
    "PaymentStatus",
    "Preference",
    "Quote",
    "Rail",
    "RailCandidate",
    "RailChoice",
    "RailDecision",
    "RailFees",
    "RailMessage",
    "Routing",
    "SandboxClock",
    "SandboxReset",
    "TimelineEntry",
    "UpdateWebhookEndpoint",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEndpointWithSecret",
]

Mode = Literal["test", "live"]
PaymentStatus = Literal["pending", "processing", "canceled", "failed", "completed", "returned"]
RailChoice = Literal["auto", "rtp", "ach"]
Rail = Literal["rtp", "ach", "book"]
Preference = Literal["balanced", "speed", "cost"]
EventType = Literal[
    "payment.pending",
    "payment.processing",
    "payment.completed",
    "payment.failed",
    "payment.returned",
    "payment.canceled",
    "payment.rerouted",
    "payment.owed",
    "payment_method.created",
    "payment_method.updated",
    "payment_method.deleted",
    "webhook_endpoint.test",
    "webhook_endpoint.disabled",
]
EventChoice = Literal[
    "*",
    "payment.pending",
    "payment.processing",
    "payment.completed",
    "payment.failed",
    "payment.returned",
    "payment.canceled",
    "payment.rerouted",
    "payment.owed",
    "payment_method.created",
    "payment_method.updated",
    "payment_method.deleted",
    "webhook_endpoint.test",
    "webhook_endpoint.disabled",
]
ErrorCode = Literal[
    "already_member",
    "amount_too_large",
    "bad_request",
    "balance_not_empty",
    "body_too_large",
    "busy",
    "clock_backwards",
    "clock_too_far",
    "csrf",
    "currency_not_supported",
    "email_not_verified",
    "email_taken",
    "forbidden",
    "headers_too_large",
    "host_not_accepted",
    "idempotency_key_in_use",
    "idempotency_key_invalid",
    "idempotency_key_required",
    "idempotency_key_reused",
    "insufficient_funds",
    "insufficient_role",
    "insufficient_scope",
    "internal",
    "invalid_credentials",
    "invalid_header",
    "invalid_json",
    "invalid_query",
    "invalid_request",
    "invitation_for_another",
    "last_event_unknown",
    "last_owner",
    "last_passkey",
    "limit_reached",
    "link_not_valid",
    "live_access_required",
    "method_not_allowed",
    "metrics_token_required",
    "network_message_unknown",
    "no_organisation",
    "not_a_balance",
    "not_found",
    "not_ready",
    "organisation_switched",
    "overloaded",
    "passkey_not_valid",
    "passkey_refused",
    "passkey_required",
    "payment_method_in_use",
    "payment_method_not_found",
    "payment_not_cancelable",
    "payment_not_found",
    "payment_not_refundable",
    "person_required",
    "quarantine_not_applicable",
    "rail_not_available",
    "rail_not_configured",
    "rate_limited",
    "refund_exceeds_payment",
    "request_timeout",
    "same_payment_method",
    "shutting_down",
    "state_conflict",
    "too_many_logins",
    "too_many_passkeys",
    "too_many_streams",
    "unauthorized",
    "unsupported_api_version",
    "unsupported_media_type",
    "uri_too_long",
    "webhook_url_refused",
    "wrong_mode",
    "wrong_password",
]


class PaymentMethodReference(TypedDict):
    #: In test mode, any id that begins with `pm_` works at its first use.
    payment_method_id: str


class Routing(TypedDict, total=False):
    #: What `auto` looks at: the earliest settlement, the lowest fee, or both (fee and the cost of the delay).
    prefer: Preference
    #: Whether ACH may take over when RTP definitely refuses; true with `auto`.
    fallback: bool


class _CreatePayment(TypedDict):
    #: Minor units: 1000 is 10.00 USD.
    amount: int
    #: ISO 4217; the rails carry USD.
    currency: str
    source: PaymentMethodReference
    destination: PaymentMethodReference


class CreatePayment(_CreatePayment, total=False):
    #: `auto` lets the service choose; `rtp` is fast, `ach` is cheap.
    rail: RailChoice
    routing: Routing
    #: What it is for, in your words.
    description: str
    #: Your own pairs of text.
    metadata: Dict[str, str]


class CreateRefund(TypedDict, total=False):
    #: Minor units; all that is left when absent.
    amount: int
    description: str
    #: Your own pairs of text.
    metadata: Dict[str, str]


class NewBankAccount(TypedDict):
    routing_number: str
    #: Sealed at once, and shown by its last four characters from then on.
    account_number: str
    account_type: Literal["checking", "savings"]
    holder_name: str
    holder_type: Literal["individual", "business"]


class _CreatePaymentMethodBankAccount(TypedDict):
    type: Literal["bank_account"]
    bank_account: NewBankAccount


class CreatePaymentMethodBankAccount(_CreatePaymentMethodBankAccount, total=False):
    metadata: Dict[str, str]


class _CreatePaymentMethodBalance(TypedDict):
    type: Literal["balance"]


class CreatePaymentMethodBalance(_CreatePaymentMethodBalance, total=False):
    metadata: Dict[str, str]


class _CreateWebhookEndpoint(TypedDict):
    url: str


class CreateWebhookEndpoint(_CreateWebhookEndpoint, total=False):
    #: Types of events; `*`, the default, stands for all of them.
    events: List[EventChoice]
    description: Optional[str]


class UpdateWebhookEndpoint(TypedDict, total=False):
    url: str
    #: Types of events; `*`, the default, stands for all of them.
    events: List[EventChoice]
    description: Optional[str]
    status: Literal["enabled", "disabled"]


class MethodSide(ApiObject):
    #: In test mode, any id that begins with `pm_` works at its first use.
    payment_method_id: str


class Money(ApiObject):
    #: Minor units: 1000 is 10.00 USD.
    amount: int
    currency: str


class RailCandidate(ApiObject):
    #: A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances.
    rail: Rail
    possible: bool
    #: Why it is not possible.
    reasons: List[str]
    fee: Optional[Money]
    #: UTC, with milliseconds.
    settles_at: Optional[str]
    #: Cents, the cost of the delay included; the lowest wins when balanced.
    score: Optional[float]


class RailDecision(ApiObject):
    #: What `auto` looks at: the earliest settlement, the lowest fee, or both (fee and the cost of the delay).
    prefer: Preference
    #: A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances.
    chosen: Rail
    candidates: List[RailCandidate]


class PaymentAttempt(ApiObject):
    id: str
    #: A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances.
    rail: Rail
    #: `unknown`: the network did not answer in time, and is being asked; it is never paid a second way.
    status: Literal["waiting", "submitted", "settled", "rejected", "returned", "unknown"]
    #: By which the network knows it.
    network_reference: Optional[str]
    #: UTC, with milliseconds.
    submitted_at: Optional[str]
    #: UTC, with milliseconds.
    settled_at: Optional[str]
    #: The network's code, where it refused or returned it.
    code: Optional[str]
    detail: Optional[str]


class TimelineEntry(ApiObject):
    #: `pending`: accepted. `processing`: handed to the rail. `completed`: settled. `failed`: refused, nobody
    #: was paid. `returned`: came back after it was completed. `canceled`: by you, before it left.
    status: PaymentStatus
    #: UTC, with milliseconds.
    timestamp: str


class PaymentFailure(ApiObject):
    code: str
    #: For example `AC04` or `R01`.
    network_code: Optional[str]
    detail: str


class Payment(ApiObject):
    id: str
    object: Literal["payment"]
    #: Test and live data never meet; the key decides.
    mode: Mode
    #: `pending`: accepted. `processing`: handed to the rail. `completed`: settled. `failed`: refused, nobody
    #: was paid. `returned`: came back after it was completed. `canceled`: by you, before it left.
    status: PaymentStatus
    #: Minor units: 1000 is 10.00 USD.
    amount: int
    currency: str
    source: MethodSide
    destination: MethodSide
    #: `auto` lets the service choose; `rtp` is fast, `ach` is cheap.
    rail: RailChoice
    #: A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances.
    rail_selected: Rail
    #: Which rails were looked at, and why one was chosen.
    rail_decision: RailDecision
    attempts: List[PaymentAttempt]
    #: Every state it entered, in order.
    timeline: List[TimelineEntry]
    failure: Optional[PaymentFailure]
    fee: Money
    #: The payment that this one gives back.
    refund_of: Optional[str]
    #: What refunds that did not fail take back of it.
    refunded_amount: int
    description: Optional[str]
    metadata: Dict[str, str]
    #: UTC, with milliseconds.
    estimated_settlement_at: str
    #: UTC, with milliseconds.
    created_at: str
    #: UTC, with milliseconds.
    updated_at: str


class Quote(ApiObject):
    object: Literal["quote"]
    amount: int
    currency: str
    #: A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances.
    rail_selected: Rail
    fee: Money
    #: UTC, with milliseconds.
    estimated_settlement_at: str
    #: Which rails were looked at, and why one was chosen.
    rail_decision: RailDecision


class RailMessage(ApiObject):
    id: str
    object: Literal["rail_message"]
    #: A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances.
    rail: Rail
    direction: Literal["out", "in"]
    kind: Literal["pacs.008", "pacs.002", "pacs.028", "nacha", "return", "noc"]
    #: The XML, or the lines of a NACHA file that concern this payment, with controls for these lines.
    content: str
    #: UTC, with milliseconds.
    created_at: str


class MethodRails(ApiObject):
    send: List[Rail]
    receive: List[Rail]


class BankAccount(ApiObject):
    routing_number: str
    last4: str
    account_type: Literal["checking", "savings"]
    holder_name: str
    holder_type: Literal["individual", "business"]
    #: The same for every payment method with this account.
    fingerprint: str


class Balance(ApiObject):
    currency: str
    posted: int
    pending: int
    available: int
    #: What a return took beyond what was there.
    owed: int


class PaymentMethod(ApiObject):
    id: str
    object: Literal["payment_method"]
    #: Test and live data never meet; the key decides.
    mode: Mode
    type: Literal["bank_account", "balance"]
    #: The rails that it can send and receive on.
    rails: MethodRails
    bank_account: Optional[BankAccount]
    balance: Optional[Balance]
    metadata: Dict[str, str]
    #: UTC, with milliseconds.
    created_at: str
    #: UTC, with milliseconds.
    updated_at: str


class WebhookEndpoint(ApiObject):
    id: str
    object: Literal["webhook_endpoint"]
    url: str
    events: List[EventChoice]
    description: Optional[str]
    status: Literal["enabled", "disabled"]
    disabled_reason: Optional[Literal["gone", "failing", "manual"]]
    #: UTC, with milliseconds.
    created_at: str
    #: UTC, with milliseconds.
    updated_at: str


class WebhookEndpointWithSecret(ApiObject):
    id: str
    object: Literal["webhook_endpoint"]
    url: str
    events: List[EventChoice]
    description: Optional[str]
    status: Literal["enabled", "disabled"]
    disabled_reason: Optional[Literal["gone", "failing", "manual"]]
    #: UTC, with milliseconds.
    created_at: str
    #: UTC, with milliseconds.
    updated_at: str
    #: Signs the webhooks; shown this once.
    secret: str


class DeliveryAttempt(ApiObject):
    #: UTC, with milliseconds.
    at: str
    #: The HTTP status, where there was an answer.
    status: Optional[int]
    error: Optional[str]
    duration_ms: int
    #: How the answer to a try that failed begins: at most 500 bytes.
    response: Optional[str]
    _optional = frozenset({"response"})


class WebhookDelivery(ApiObject):
    id: str
    object: Literal["webhook_delivery"]
    event_id: str
    #: What happened.
    event_type: EventType
    endpoint_id: str
    #: `failed`: every retry was used up. `abandoned`: the endpoint was switched off or deleted.
    status: Literal["pending", "delivered", "failed", "abandoned"]
    attempts: List[DeliveryAttempt]
    #: UTC, with milliseconds.
    next_attempt_at: Optional[str]
    #: UTC, with milliseconds.
    created_at: str
    _parts = {"attempts": DeliveryAttempt}


class LedgerAccount(ApiObject):
    id: str
    object: Literal["ledger_account"]
    type: Literal["balance", "outside", "fees_owed", "fee_revenue", "owed"]
    payment_method_id: Optional[str]
    currency: str
    posted: int
    #: Promised and not settled: what comes in less what goes out.
    pending: int
    #: Posted, less what is promised to payments on their way.
    available: int
    #: How far a return has taken the balance below zero.
    owed: int


class LedgerEntry(ApiObject):
    id: str
    object: Literal["ledger_entry"]
    transaction_id: str
    payment_id: Optional[str]
    account_id: str
    direction: Literal["debit", "credit"]
    amount: int
    #: Entries never change. `pending` promises an amount; a later entry of the payment, in the same
    #: direction, makes it so (`posted`) or takes the promise back (`released`). What is pending of an account
    #: are the promises that neither followed.
    state: Literal["pending", "posted", "released"]
    #: UTC, with milliseconds.
    created_at: str


class LedgerCheckResult(ApiObject):
    name: str
    ok: bool
    detail: str


class LedgerCheck(ApiObject):
    object: Literal["ledger_check"]
    ok: bool
    checks: List[LedgerCheckResult]
    #: UTC, with milliseconds.
    checked_at: str


class RailFees(ApiObject):
    rail: str
    payments: int
    amount: int


class Fees(ApiObject):
    object: Literal["fees"]
    month: str
    currency: str
    total: int
    by_rail: List[RailFees]


class SandboxClock(ApiObject):
    object: Literal["sandbox_clock"]
    state: Literal["real", "frozen", "running"]
    now: str


class SandboxReset(ApiObject):
    object: Literal["sandbox_reset"]
    reset_at: str


CreatePaymentMethod = Union[CreatePaymentMethodBankAccount, CreatePaymentMethodBalance]
