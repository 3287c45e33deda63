"""What an event carries goes by its type: ``event.type == "payment.completed"`` tells a type checker that ``data`` is a payment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Literal, Union

from ._api_types import Mode, Payment, PaymentMethod, WebhookEndpoint
from ._objects import ApiObject

__all__ = ["Event", "PaymentEventType", "PaymentMethodEventType", "WebhookEndpointEventType", "WebhookEvent"]

PaymentEventType = Literal[
    "payment.pending",
    "payment.processing",
    "payment.completed",
    "payment.failed",
    "payment.returned",
    "payment.canceled",
    "payment.rerouted",
    "payment.owed",
]
PaymentMethodEventType = Literal["payment_method.created", "payment_method.updated", "payment_method.deleted"]
WebhookEndpointEventType = Literal["webhook_endpoint.test", "webhook_endpoint.disabled"]

if TYPE_CHECKING:
    # To a type checker an event is one of three, and a look at its type says which. An event that is made later is none of
    # them, so the classes that there are know no such difference.

    class _WebhookEvent(ApiObject):
        id: str
        timestamp: str
        mode: Mode

    class _PaymentWebhookEvent(_WebhookEvent):
        type: PaymentEventType
        data: Payment

    class _PaymentMethodWebhookEvent(_WebhookEvent):
        type: PaymentMethodEventType
        data: PaymentMethod

    class _WebhookEndpointWebhookEvent(_WebhookEvent):
        type: WebhookEndpointEventType
        data: WebhookEndpoint

    class _PaymentEvent(_PaymentWebhookEvent):
        object: Literal["event"]
        created_at: str

    class _PaymentMethodEvent(_PaymentMethodWebhookEvent):
        object: Literal["event"]
        created_at: str

    class _WebhookEndpointEvent(_WebhookEndpointWebhookEvent):
        object: Literal["event"]
        created_at: str

    WebhookEvent = Union[_PaymentWebhookEvent, _PaymentMethodWebhookEvent, _WebhookEndpointWebhookEvent]
    Event = Union[_PaymentEvent, _PaymentMethodEvent, _WebhookEndpointEvent]

    to_webhook_event: Callable[[Any], WebhookEvent]
    to_event: Callable[[Any], Event]

else:

    class WebhookEvent(ApiObject):
        """The body of a webhook. ``data`` is the object concerned, as it was then."""

    class Event(WebhookEvent):
        """An event as the API shows it."""

    to_webhook_event = WebhookEvent
    to_event = Event
