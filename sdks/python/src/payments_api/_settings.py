from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, Optional
from urllib.parse import quote, urlsplit

DEFAULT_BASE_URL = "http://localhost:4000"
DEFAULT_TIMEOUT = 30.0
DEFAULT_MAX_RETRIES = 3
TIMEOUT_MAX = 600.0
RETRIES_MAX = 20


@dataclass
class RequestInfo:
    """What ``on_request`` sees. Headers may be added to; the API key is never among them."""

    method: str
    url: str
    headers: Dict[str, str]
    #: 1 for the first try.
    attempt: int


@dataclass
class ResponseInfo:
    """What ``on_response`` sees, once per try."""

    method: str
    url: str
    attempt: int
    #: None where there was no answer.
    status: Optional[int]
    request_id: Optional[str]
    duration: float
    #: Why there was no usable answer.
    error: Optional[Exception]
    #: Present where the request is sent again, after this many seconds.
    retry_in: Optional[float]


RequestHook = Callable[[RequestInfo], None]
ResponseHook = Callable[[ResponseInfo], None]


@dataclass(frozen=True)
class Settings:
    api_key: str = field(repr=False)
    base_url: str
    timeout: float
    max_retries: int
    headers: Mapping[str, str] = field(repr=False)
    #: May contain a password.
    proxy: Optional[str] = field(repr=False)
    ca: Optional[str] = field(repr=False)
    on_request: Optional[RequestHook] = field(repr=False)
    on_response: Optional[ResponseHook] = field(repr=False)

    @property
    def origin(self) -> str:
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"


def read_settings(
    api_key: Optional[str],
    base_url: Optional[str],
    timeout: float,
    max_retries: int,
    headers: Optional[Mapping[str, str]],
    proxy: Optional[str],
    ca: Optional[str],
    on_request: Optional[RequestHook],
    on_response: Optional[ResponseHook],
) -> Settings:
    """Checked once, when the client is made: a wrong setting shows before the first payment."""
    if proxy is not None:
        _read_proxy(proxy)
    return Settings(
        api_key=_read_api_key(api_key if api_key is not None else os.environ.get("PAYMENTS_API_KEY")),
        base_url=_read_base_url(
            base_url if base_url is not None else os.environ.get("PAYMENTS_API_URL") or DEFAULT_BASE_URL
        ),
        timeout=read_number("timeout", timeout, 0.001, TIMEOUT_MAX),
        max_retries=int(read_number("max_retries", max_retries, 0, RETRIES_MAX)),
        headers=dict(headers or {}),
        proxy=proxy,
        ca=ca,
        on_request=on_request,
        on_response=on_response,
    )


def _read_api_key(value: Any) -> str:
    """The value is never repeated in a message: it may be a secret with a typing mistake in it."""
    if value is None or value == "":
        raise ValueError("No API key: pass api_key or set PAYMENTS_API_KEY.")
    if not isinstance(value, str) or not re.fullmatch(r"[\x21-\x7e]+", value):
        raise ValueError("The API key contains characters that no key has: was it copied with spaces?")
    return value


def _read_base_url(value: str) -> str:
    try:
        parts = urlsplit(value.strip())
        port_is_right = parts.port is None or parts.port > 0
    except ValueError:
        port_is_right = False
        parts = urlsplit("")
    if not parts.scheme or not parts.hostname or not port_is_right:
        raise ValueError("base_url is not a URL: it looks like https://payments.example.com")
    if parts.scheme not in ("https", "http"):
        raise ValueError("base_url must begin with https:// or http://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("base_url must not contain a user name or password: the key goes in api_key")
    if parts.query or parts.fragment:
        raise ValueError("base_url must not contain ? or #")
    path = quote(parts.path, safe="/%:@!$&'()*+,;=~")
    return f"{parts.scheme}://{parts.netloc}{path}".rstrip("/")


def _read_proxy(value: str) -> None:
    """The value is not repeated in messages: it may contain a password."""
    try:
        parts = urlsplit(value)
        is_right = parts.scheme == "http" and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_right = False
    if not is_right:
        raise ValueError("proxy is not the URL of an HTTP proxy: it looks like http://proxy.example.com:3128")


def read_number(name: str, value: float, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise ValueError(f"{name} must be a number from {least} to {most}")
    return value
