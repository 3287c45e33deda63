from __future__ import annotations

from types import TracebackType
from typing import Any, Dict, Mapping, Optional, Type

from .._settings import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT, RequestHook, ResponseHook, read_settings
from .._webhooks import webhooks
from .request import AsyncHttpClient
from .resources import (
    AsyncEventsResource,
    AsyncFeesResource,
    AsyncLedgerResource,
    AsyncPaymentMethodsResource,
    AsyncPaymentsResource,
    AsyncSandboxResource,
    AsyncWebhookDeliveriesResource,
    AsyncWebhookEndpointsResource,
)


class AsyncPayments:
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
        self._http = AsyncHttpClient(settings)
        self.payments = AsyncPaymentsResource(self._http)
        self.payment_methods = AsyncPaymentMethodsResource(self._http)
        self.webhook_endpoints = AsyncWebhookEndpointsResource(self._http)
        self.webhook_deliveries = AsyncWebhookDeliveriesResource(self._http)
        self.events = AsyncEventsResource(self._http)
        self.ledger = AsyncLedgerResource(self._http)
        self.fees = AsyncFeesResource(self._http)
        self.sandbox = AsyncSandboxResource(self._http)
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
    ) -> AsyncPayments:
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

    async def close(self) -> None:
        """Closes the connections that are kept."""
        await self._http.close()

    async def __aenter__(self) -> AsyncPayments:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._base_url!r})"
