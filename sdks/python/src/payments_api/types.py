"""The shapes of the API, with the names that they have on the wire."""

from __future__ import annotations

from typing import Any, Dict, Generic, List, Literal, Optional, TypedDict, TypeVar, Union

from ._objects import ApiObject

Mode = Literal["test", "live"]
Rail = Literal["rtp", "ach", "book"]
RailChoice = Literal["auto", "rtp", "ach"]
Preference = Literal["balanced", "speed", "cost"]
PaymentStatus = Literal["pending", "processing", "completed", "failed", "canceled", "returned"]
EventType = Literal[
    "payment.pending",
    "payment.processing",
    "payment.completed",
    "payment.failed",
    "payment.returned",
    "payment.canceled",
    "payment.rerouted",
    "payment_method.created",
    "payment_method.updated",
    "payment_method.deleted",
    "webhook_endpoint.test",
    "webhook_endpoint.disabled",
]
EventChoice = Union[EventType, Literal["*"]]


class PaymentMethodReference(TypedDict):
    payment_method_id: str


class Routing(TypedDict, total=False):
    prefer: Preference
    fallback: bool


class NewBankAccount(TypedDict):
    routing_number: str
    account_number: str
    account_type: Literal["checking", "savings"]
    holder_name: str
    holder_type: Literal["individual", "business"]


class Money(ApiObject):
    amount: int
    currency: str


class MethodSide(ApiObject):
    payment_method_id: str


class RailCandidate(ApiObject):
    rail: Rail
    possible: bool
    reasons: List[str]
    fee: Optional[Money]
    settles_at: Optional[str]
    score: Optional[float]


class RailDecision(ApiObject):
    prefer: Preference
    chosen: Rail
    candidates: List[RailCandidate]


class PaymentAttempt(ApiObject):
    id: str
    rail: Rail
    status: Literal["waiting", "submitted", "settled", "rejected", "returned", "unknown"]
    network_reference: Optional[str]
    submitted_at: Optional[str]
    settled_at: Optional[str]
    code: Optional[str]
    detail: Optional[str]


class TimelineEntry(ApiObject):
    status: PaymentStatus
    timestamp: str


class PaymentFailure(ApiObject):
    code: str
    network_code: Optional[str]
    detail: str


class Payment(ApiObject):
    id: str
    object: Literal["payment"]
    mode: Mode
    status: PaymentStatus
    amount: int
    currency: str
    source: MethodSide
    destination: MethodSide
    rail: RailChoice
    rail_selected: Rail
    rail_decision: RailDecision
    attempts: List[PaymentAttempt]
    timeline: List[TimelineEntry]
    failure: Optional[PaymentFailure]
    fee: Money
    description: Optional[str]
    metadata: Dict[str, str]
    refund_of: Optional[str]
    refunded_amount: int
    estimated_settlement_at: str
    created_at: str
    updated_at: str


class Quote(ApiObject):
    object: Literal["quote"]
    amount: int
    currency: str
    rail_selected: Rail
    fee: Money
    estimated_settlement_at: str
    rail_decision: RailDecision


class RailMessage(ApiObject):
    id: str
    object: Literal["rail_message"]
    rail: Rail
    direction: Literal["out", "in"]
    kind: Literal["nacha", "return", "noc", "pacs.008", "pacs.002", "pacs.028"]
    content: str
    created_at: str


class BankAccount(ApiObject):
    routing_number: str
    last4: str
    account_type: Literal["checking", "savings"]
    holder_name: str
    holder_type: Literal["individual", "business"]
    fingerprint: str


class Balance(ApiObject):
    currency: str
    posted: int
    pending: int
    available: int
    owed: int


class MethodRails(ApiObject):
    send: List[Rail]
    receive: List[Rail]


class PaymentMethod(ApiObject):
    id: str
    object: Literal["payment_method"]
    mode: Mode
    type: Literal["bank_account", "balance"]
    rails: MethodRails
    bank_account: Optional[BankAccount]
    balance: Optional[Balance]
    metadata: Dict[str, str]
    created_at: str
    updated_at: str


class WebhookEvent(ApiObject):
    """The body of a webhook. ``data`` is the object concerned, as it was then."""

    id: str
    type: EventType
    timestamp: str
    mode: Mode
    data: Any


class Event(WebhookEvent):
    """An event as the API shows it."""

    object: Literal["event"]
    created_at: str


class WebhookEndpoint(ApiObject):
    id: str
    object: Literal["webhook_endpoint"]
    url: str
    events: List[EventChoice]
    description: Optional[str]
    status: Literal["enabled", "disabled"]
    disabled_reason: Optional[Literal["gone", "failing", "manual"]]
    created_at: str
    updated_at: str


class WebhookEndpointWithSecret(WebhookEndpoint):
    secret: str


class DeliveryAttempt(ApiObject):
    at: str
    status: Optional[int]
    error: Optional[str]
    duration_ms: int


class WebhookDelivery(ApiObject):
    id: str
    object: Literal["webhook_delivery"]
    event_id: str
    event_type: EventType
    endpoint_id: str
    status: Literal["pending", "delivered", "failed", "abandoned"]
    attempts: List[DeliveryAttempt]
    next_attempt_at: Optional[str]
    created_at: str


class LedgerAccount(ApiObject):
    id: str
    object: Literal["ledger_account"]
    type: str
    payment_method_id: Optional[str]
    currency: str
    posted: int
    pending: int
    available: int
    owed: int


class LedgerEntry(ApiObject):
    id: str
    object: Literal["ledger_entry"]
    transaction_id: str
    payment_id: Optional[str]
    account_id: str
    direction: Literal["debit", "credit"]
    amount: int
    state: Literal["pending", "posted", "released"]
    created_at: str


class LedgerCheckResult(ApiObject):
    name: str
    ok: bool
    detail: str


class LedgerCheck(ApiObject):
    object: Literal["ledger_check"]
    ok: bool
    checks: List[LedgerCheckResult]
    checked_at: str


class RailFees(ApiObject):
    rail: Rail
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


Item = TypeVar("Item")


class Page(ApiObject, Generic[Item]):
    """One page of a list, as it comes over the wire."""

    object: Literal["list"]
    data: List[Item]
    next_cursor: Optional[str]
