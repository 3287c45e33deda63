# Made from _async by tools/unasync.py: change it there.
from __future__ import annotations

from types import TracebackType
from typing import Any, Dict, Mapping, Optional, Type

from .._settings import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT, RequestHook, ResponseHook, read_settings
from .._webhooks import webhooks
from .request import HttpClient
from .resources import (
    EventsResource,
    FeesResource,
    LedgerResource,
    PaymentMethodsResource,
    PaymentsResource,
    SandboxResource,
    WebhookDeliveriesResource,
    WebhookEndpointsResource,
)


class Payments:
    """A client of the Payments API. Make one and keep it: it holds settings and a few open connections."""

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES,
        *,
        headers: Optional[Mapping[str, str]] = None,
        proxy: Optional[str] = None,
        ca: Optional[str] = None,
        on_request: Optional[RequestHook] = None,
        on_response: Optional[ResponseHook] = None,
    ) -> None:
        self._options: Dict[str, Any] = {
            "api_key": api_key,
            "base_url": base_url,
            "timeout": timeout,
            "max_retries": max_retries,
            "headers": headers,
            "proxy": proxy,
            "ca": ca,
            "on_request": on_request,
            "on_response": on_response,
        }
        settings = read_settings(**self._options)
        self._base_url = settings.base_url
        self._http = HttpClient(settings)
        self.payments = PaymentsResource(self._http)
        self.payment_methods = PaymentMethodsResource(self._http)
        self.webhook_endpoints = WebhookEndpointsResource(self._http)
        self.webhook_deliveries = WebhookDeliveriesResource(self._http)
        self.events = EventsResource(self._http)
        self.ledger = LedgerResource(self._http)
        self.fees = FeesResource(self._http)
        self.sandbox = SandboxResource(self._http)
        self.webhooks = webhooks

    def with_options(
        self,
        *,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
        proxy: Optional[str] = None,
        ca: Optional[str] = None,
        on_request: Optional[RequestHook] = None,
        on_response: Optional[ResponseHook] = None,
    ) -> Payments:
        """Another client like this one, with some settings changed."""
        changed = {
            "api_key": api_key,
            "base_url": base_url,
            "timeout": timeout,
            "max_retries": max_retries,
            "headers": headers,
            "proxy": proxy,
            "ca": ca,
            "on_request": on_request,
            "on_response": on_response,
        }
        return type(self)(**{**self._options, **{name: value for name, value in changed.items() if value is not None}})

    def close(self) -> None:
        """Closes the connections that are kept."""
        self._http.close()

    def __enter__(self) -> Payments:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._base_url!r})"
