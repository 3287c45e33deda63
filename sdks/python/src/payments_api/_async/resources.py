from __future__ import annotations

import http.client
import math
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, AsyncIterator, List, Literal, Mapping, Optional, Sequence, Union, cast

from .._errors import ConnectionFailedError, PaymentsError, WaitTimeoutError
from .._event_types import to_event
from .._retry import asked
from .._settings import read_number
from .._wait import judge, unexpected
from ..types import (
    Event,
    EventChoice,
    EventType,
    Fees,
    LedgerAccount,
    LedgerCheck,
    LedgerEntry,
    NewBankAccount,
    Payment,
    PaymentMethod,
    PaymentMethodReference,
    PaymentStatus,
    Quote,
    Rail,
    RailChoice,
    RailMessage,
    Routing,
    SandboxClock,
    SandboxReset,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEndpointWithSecret,
)
from .event_stream import ReconnectHook, async_stream_events
from .pagination import AsyncPaged
from .request import ApiRequest, AsyncHttpClient, given, segment, to_time

WAIT_TIMEOUT = 60.0
#: Of one look: a server that does not answer is asked again, not waited for.
LOOK_TIMEOUT_MAX = 30.0
#: The last look gets so much time, too: what it sees is newer than what the one before saw.
LOOK_TIMEOUT_MIN = 0.5
POLL_FIRST = 0.2
POLL_LAST = 5.0
POLL_GROWTH = 1.5
SILENCE_MAX = 60.0

Time = Union[str, datetime]


class AsyncResource:
    def __init__(self, http: AsyncHttpClient) -> None:
        self._http = http

    async def _post(
        self,
        path: str,
        body: Optional[Mapping[str, Any]],
        idempotency_key: Optional[str],
        timeout: Optional[float],
        max_retries: Optional[int],
    ) -> Any:
        return await self._http.send(
            ApiRequest(
                "POST",
                path,
                body=body,
                idempotency_key=idempotency_key,
                timeout=timeout,
                max_retries=max_retries,
            )
        )


class AsyncPaymentsResource(AsyncResource):
    # The types say what may be sent; what is sent is judged by the server, which names every bad field at once. None is
    # what was not given.
    if TYPE_CHECKING:

        async def create(
            self,
            *,
            amount: int,
            currency: str,
            source: PaymentMethodReference,
            destination: PaymentMethodReference,
            rail: Optional[RailChoice] = ...,
            routing: Optional[Routing] = ...,
            description: Optional[str] = ...,
            metadata: Optional[Mapping[str, str]] = ...,
            idempotency_key: Optional[str] = None,
            timeout: Optional[float] = None,
            max_retries: Optional[int] = None,
        ) -> Payment:
            ...

        async def quote(
            self,
            *,
            amount: int,
            currency: str,
            source: PaymentMethodReference,
            destination: PaymentMethodReference,
            rail: Optional[RailChoice] = ...,
            routing: Optional[Routing] = ...,
            description: Optional[str] = ...,
            metadata: Optional[Mapping[str, str]] = ...,
            idempotency_key: Optional[str] = None,
            timeout: Optional[float] = None,
            max_retries: Optional[int] = None,
        ) -> Quote:
            ...

        async def refund(
            self,
            id: str,
            *,
            amount: Optional[int] = ...,
            description: Optional[str] = ...,
            metadata: Optional[Mapping[str, str]] = ...,
            idempotency_key: Optional[str] = None,
            timeout: Optional[float] = None,
            max_retries: Optional[int] = None,
        ) -> Payment:
            ...

    else:

        async def create(self, *, idempotency_key=None, timeout=None, max_retries=None, **body):
            """Accepted at once, with status ``pending``; what happens then is told by ``wait_for``, ``get``, or webhooks."""
            return Payment(await self._post("/v1/payments", given(**body), idempotency_key, timeout, max_retries))

        async def quote(self, *, idempotency_key=None, timeout=None, max_retries=None, **body):
            """Which rail this payment would take, what it would cost, and when it would settle. Moves nothing."""
            value = await self._post("/v1/payments/quote", given(**body), idempotency_key, timeout, max_retries)
            return Quote(value)

        async def refund(self, id, *, idempotency_key=None, timeout=None, max_retries=None, **body):
            """A payment the other way, of all that is left or of ``amount``."""
            path = f"/v1/payments/{segment(id)}/refunds"
            return Payment(await self._post(path, given(**body), idempotency_key, timeout, max_retries))

    async def get(
        self, id: str, *, timeout: Optional[float] = None, max_retries: Optional[int] = None
    ) -> Payment:
        request = ApiRequest("GET", f"/v1/payments/{segment(id)}", timeout=timeout, max_retries=max_retries)
        return Payment(await self._http.send(request))

    def list(
        self,
        *,
        status: Optional[PaymentStatus] = None,
        rail: Optional[Rail] = None,
        payment_method: Optional[str] = None,
        created_after: Optional[Time] = None,
        created_before: Optional[Time] = None,
        id_prefix: Optional[str] = None,
        refund_of: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncPaged[Payment]:
        query = given(
            status=status,
            rail=rail,
            payment_method=payment_method,
            created_after=created_after,
            created_before=created_before,
            id_prefix=id_prefix,
            refund_of=refund_of,
            metadata=metadata,
            limit=limit,
            cursor=cursor,
        )
        return AsyncPaged(self._http, ApiRequest("GET", "/v1/payments", query=query), Payment)

    async def cancel(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Payment:
        """Only while it is ``pending``; ConflictError otherwise."""
        path = f"/v1/payments/{segment(id)}/cancel"
        return Payment(await self._post(path, None, idempotency_key, timeout, max_retries))

    def messages(
        self, id: str, *, limit: Optional[int] = None, cursor: Optional[str] = None
    ) -> AsyncPaged[RailMessage]:
        """What went over the rails for this payment."""
        request = ApiRequest(
            "GET", f"/v1/payments/{segment(id)}/messages", query=given(limit=limit, cursor=cursor)
        )
        return AsyncPaged(self._http, request, RailMessage)

    async def export(
        self,
        *,
        status: Optional[PaymentStatus] = None,
        rail: Optional[Rail] = None,
        payment_method: Optional[str] = None,
        created_after: Optional[Time] = None,
        created_before: Optional[Time] = None,
        id_prefix: Optional[str] = None,
        refund_of: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> AsyncIterator[bytes]:
        """Payments as CSV, in pieces as they arrive."""
        query = given(
            format="csv",
            status=status,
            rail=rail,
            payment_method=payment_method,
            created_after=created_after,
            created_before=created_before,
            id_prefix=id_prefix,
            refund_of=refund_of,
            metadata=metadata,
        )
        _, stream = await self._http.open(ApiRequest("GET", "/v1/payments/export", query=query), "text/csv")
        try:
            while True:
                chunk = await stream.read(SILENCE_MAX)
                if not chunk:
                    return
                yield chunk
        except (OSError, http.client.HTTPException):
            raise ConnectionFailedError(
                "The export was cut.", code="connection_failed", retryable=True
            ) from None
        finally:
            await stream.close()

    async def wait_for(
        self,
        id: str,
        status: Union[PaymentStatus, Sequence[PaymentStatus]],
        *,
        timeout: float = WAIT_TIMEOUT,
    ) -> Payment:
        """The payment, once it has this status (or one of these).

        WaitTimeoutError when it takes longer than ``timeout`` seconds; UnexpectedStatusError at once when it can no
        longer get there.
        """
        wanted = cast("List[PaymentStatus]", [status] if isinstance(status, str) else [*status])
        if not wanted:
            raise ValueError("wait_for needs a status to wait for.")
        # Less than nothing, which is what is left of a time that is over, is one look.
        read_number("timeout", timeout, -math.inf, math.inf)
        ends = time.monotonic() + timeout
        payment: Optional[Payment] = None
        failure: Optional[PaymentsError] = None
        pause = POLL_FIRST
        while True:
            least = 0.0
            try:
                left = max(LOOK_TIMEOUT_MIN, ends - time.monotonic())
                payment = await self.get(id, timeout=min(left, LOOK_TIMEOUT_MAX, self._http.timeout), max_retries=0)
                failure = None
                verdict = judge(payment, wanted)
                if verdict == "there":
                    return payment
                if verdict == "pointless":
                    raise unexpected(payment, wanted)
            except PaymentsError as error:
                # A server that restarts meanwhile is no reason to stop waiting; a refusal is.
                if not error.retryable:
                    raise
                failure = error
                least = asked(error.retry_after)
            rest = ends - time.monotonic()
            if rest <= 0:
                seen = "was not seen" if payment is None else f"is {payment.status}"
                raise WaitTimeoutError(f"Payment {id} {seen} after {timeout:g} s.", payment) from failure
            await self._http.sleep(min(max(pause, least), rest))
            pause = min(POLL_LAST, pause * POLL_GROWTH)


class AsyncPaymentMethodsResource(AsyncResource):
    if TYPE_CHECKING:

        async def create(
            self,
            *,
            type: Literal["bank_account", "balance"],
            bank_account: Optional[NewBankAccount] = ...,
            metadata: Optional[Mapping[str, str]] = ...,
            idempotency_key: Optional[str] = None,
            timeout: Optional[float] = None,
            max_retries: Optional[int] = None,
        ) -> PaymentMethod:
            ...

    else:

        async def create(self, *, idempotency_key=None, timeout=None, max_retries=None, **body):
            """A bank account, or a balance that is held here."""
            value = await self._post("/v1/payment_methods", given(**body), idempotency_key, timeout, max_retries)
            return PaymentMethod(value)

    async def get(self, id: str) -> PaymentMethod:
        return PaymentMethod(await self._http.send(ApiRequest("GET", f"/v1/payment_methods/{segment(id)}")))

    def list(
        self,
        *,
        type: Optional[Literal["bank_account", "balance"]] = None,
        fingerprint: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncPaged[PaymentMethod]:
        query = given(type=type, fingerprint=fingerprint, limit=limit, cursor=cursor)
        return AsyncPaged(self._http, ApiRequest("GET", "/v1/payment_methods", query=query), PaymentMethod)

    async def delete(self, id: str) -> None:
        """ConflictError while payments of it are open, or while a balance holds money."""
        await self._http.send(ApiRequest("DELETE", f"/v1/payment_methods/{segment(id)}"))


class AsyncWebhookEndpointsResource(AsyncResource):
    if TYPE_CHECKING:

        async def create(
            self,
            *,
            url: str,
            events: Optional[Sequence[EventChoice]] = ...,
            description: Optional[str] = ...,
            idempotency_key: Optional[str] = None,
            timeout: Optional[float] = None,
            max_retries: Optional[int] = None,
        ) -> WebhookEndpointWithSecret:
            ...

        async def update(
            self,
            id: str,
            *,
            url: str = ...,
            events: Sequence[EventChoice] = ...,
            description: Optional[str] = ...,
            status: Literal["enabled", "disabled"] = ...,
        ) -> WebhookEndpoint:
            ...

    else:

        async def create(self, *, idempotency_key=None, timeout=None, max_retries=None, **body):
            """The answer alone carries ``secret``: keep it."""
            value = await self._post("/v1/webhook_endpoints", given(**body), idempotency_key, timeout, max_retries)
            return WebhookEndpointWithSecret(value)

        async def update(self, id, **body):
            """Changes what is given; ``description=None`` takes it away."""
            request = ApiRequest("PATCH", f"/v1/webhook_endpoints/{segment(id)}", body=body)
            return WebhookEndpoint(await self._http.send(request))

    async def get(self, id: str) -> WebhookEndpoint:
        return WebhookEndpoint(await self._http.send(ApiRequest("GET", f"/v1/webhook_endpoints/{segment(id)}")))

    def list(
        self, *, limit: Optional[int] = None, cursor: Optional[str] = None
    ) -> AsyncPaged[WebhookEndpoint]:
        request = ApiRequest("GET", "/v1/webhook_endpoints", query=given(limit=limit, cursor=cursor))
        return AsyncPaged(self._http, request, WebhookEndpoint)

    async def delete(self, id: str) -> None:
        await self._http.send(ApiRequest("DELETE", f"/v1/webhook_endpoints/{segment(id)}"))

    async def rotate_secret(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> WebhookEndpointWithSecret:
        """A new ``secret``; the old one signs along for 24 hours."""
        path = f"/v1/webhook_endpoints/{segment(id)}/rotate_secret"
        value = await self._post(path, None, idempotency_key, timeout, max_retries)
        return WebhookEndpointWithSecret(value)

    async def test(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> WebhookDelivery:
        """Sends a test event to this endpoint."""
        path = f"/v1/webhook_endpoints/{segment(id)}/test"
        return WebhookDelivery(await self._post(path, None, idempotency_key, timeout, max_retries))

    def deliveries(
        self,
        id: str,
        *,
        event_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncPaged[WebhookDelivery]:
        """What was sent to this endpoint, all of it or what became of one event."""
        path = f"/v1/webhook_endpoints/{segment(id)}/deliveries"
        query = given(event_id=event_id, limit=limit, cursor=cursor)
        request = ApiRequest("GET", path, query=query)
        return AsyncPaged(self._http, request, WebhookDelivery)


class AsyncWebhookDeliveriesResource(AsyncResource):
    async def retry(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> WebhookDelivery:
        """Sends it again, now."""
        path = f"/v1/webhook_deliveries/{segment(id)}/retry"
        return WebhookDelivery(await self._post(path, None, idempotency_key, timeout, max_retries))


class AsyncEventsResource(AsyncResource):
    async def get(self, id: str) -> Event:
        return to_event(await self._http.send(ApiRequest("GET", f"/v1/events/{segment(id)}")))

    def list(
        self,
        *,
        type: Optional[EventType] = None,
        object_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncPaged[Event]:
        query = given(type=type, object_id=object_id, limit=limit, cursor=cursor)
        return AsyncPaged(self._http, ApiRequest("GET", "/v1/events", query=query), to_event)

    def stream(
        self,
        *,
        last_event_id: Optional[str] = None,
        on_reconnect: Optional[ReconnectHook] = None,
    ) -> AsyncIterator[Event]:
        """Events as they happen, for as long as it is read.

        A lost connection is made again and goes on after the last event; ``last_event_id`` goes on where an earlier
        stream ended, up to 24 hours ago, and an empty one begins with everything that is kept.
        """
        return async_stream_events(self._http, lambda: self.list(limit=100), last_event_id, on_reconnect)


class AsyncLedgerResource(AsyncResource):
    def accounts(
        self, *, limit: Optional[int] = None, cursor: Optional[str] = None
    ) -> AsyncPaged[LedgerAccount]:
        request = ApiRequest("GET", "/v1/ledger/accounts", query=given(limit=limit, cursor=cursor))
        return AsyncPaged(self._http, request, LedgerAccount)

    def entries(
        self,
        *,
        payment_id: Optional[str] = None,
        account_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncPaged[LedgerEntry]:
        query = given(payment_id=payment_id, account_id=account_id, limit=limit, cursor=cursor)
        return AsyncPaged(self._http, ApiRequest("GET", "/v1/ledger/entries", query=query), LedgerEntry)

    async def check(self) -> LedgerCheck:
        """Proves that sums are zero, balances match entries, and entries match the payments' states."""
        return LedgerCheck(await self._http.send(ApiRequest("GET", "/v1/ledger/check")))


class AsyncFeesResource(AsyncResource):
    async def get(self, month: str) -> Fees:
        """What the payments of a month cost: ``get("2026-11")``."""
        return Fees(await self._http.send(ApiRequest("GET", "/v1/fees", query={"month": month})))


class AsyncSandboxResource(AsyncResource):
    """Test keys only: PermissionDeniedError with a live one."""

    async def get_clock(self) -> SandboxClock:
        return SandboxClock(await self._http.send(ApiRequest("GET", "/v1/sandbox/clock")))

    async def set_clock(self, now: Time, *, idempotency_key: Optional[str] = None) -> SandboxClock:
        """Freezes the organisation's time at this moment, which must not lie before the present one."""
        value = await self._post("/v1/sandbox/clock", {"now": to_time(now)}, idempotency_key, None, None)
        return SandboxClock(value)

    async def advance_clock(self, advance: str, *, idempotency_key: Optional[str] = None) -> SandboxClock:
        """Freezes the organisation's time this much later: an ISO 8601 duration such as ``P3D``."""
        value = await self._post("/v1/sandbox/clock", {"advance": advance}, idempotency_key, None, None)
        return SandboxClock(value)

    async def free_clock(self) -> None:
        """Lets time run on from where it stands."""
        await self._http.send(ApiRequest("DELETE", "/v1/sandbox/clock"))

    async def fund(
        self, payment_method_id: str, amount: int, *, idempotency_key: Optional[str] = None
    ) -> PaymentMethod:
        """Puts test money into a balance."""
        path = f"/v1/sandbox/payment_methods/{segment(payment_method_id)}/fund"
        return PaymentMethod(await self._post(path, {"amount": amount}, idempotency_key, None, None))

    async def settle(self, payment_id: str, *, idempotency_key: Optional[str] = None) -> Payment:
        return await self._force(payment_id, "settle", None, idempotency_key)

    async def reject(
        self, payment_id: str, code: Optional[str] = None, *, idempotency_key: Optional[str] = None
    ) -> Payment:
        """The network's refusal, with its code: ``AC04``, ``R03`` …"""
        return await self._force(payment_id, "reject", code, idempotency_key)

    async def return_(self, payment_id: str, code: str, *, idempotency_key: Optional[str] = None) -> Payment:
        """The return of an ACH entry, with its code: ``R01`` …"""
        return await self._force(payment_id, "return", code, idempotency_key)

    async def notify_of_change(
        self, payment_id: str, code: Optional[str] = None, *, idempotency_key: Optional[str] = None
    ) -> Payment:
        """A notification of change, with its code: ``C01`` …"""
        return await self._force(payment_id, "notify_of_change", code, idempotency_key)

    async def reset(self, *, idempotency_key: Optional[str] = None) -> SandboxReset:
        """Test mode begins anew; keys and webhook endpoints stay."""
        return SandboxReset(await self._post("/v1/sandbox/reset", {}, idempotency_key, None, None))

    async def _force(
        self, payment_id: str, outcome: str, code: Optional[str], idempotency_key: Optional[str]
    ) -> Payment:
        path = f"/v1/sandbox/payments/{segment(payment_id)}/{outcome}"
        return Payment(await self._post(path, given(code=code), idempotency_key, None, None))
