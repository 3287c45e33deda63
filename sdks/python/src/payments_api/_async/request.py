from __future__ import annotations

import http.client
import json
import platform
import random
import re
import ssl
import time
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urlencode

from .._blocking import TooLarge, WireRequest, WireResponse
from .._errors import ConnectionFailedError, FieldError, PaymentsError, error_class_of
from .._objects import ApiObject
from .._retry import delay_before_retry, is_retryable, parse_retry_after
from .._settings import RETRIES_MAX, TIMEOUT_MAX, RequestInfo, ResponseInfo, Settings, read_number
from .._threads import ThreadIo, ThreadStream
from .._version import API_VERSION, VERSION

_HEADER_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass
class ApiRequest:
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    #: May hold an account number, which must not stand in a report of local variables.
    body: Optional[Mapping[str, Any]] = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    idempotency_key: Optional[str] = None
    timeout: Optional[float] = None
    max_retries: Optional[int] = None


class Failed(Exception):
    """The end of one try that gave no answer to use."""

    def __init__(self, error: PaymentsError, retry_after: Optional[float] = None) -> None:
        super().__init__()
        self.error = error
        self.retry_after = retry_after


class AsyncHttpClient:
    """Sends requests: the same bytes and the same key at every try, until one gets an answer that stands."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._io = ThreadIo(settings)

    @property
    def origin(self) -> str:
        return self._settings.origin

    @property
    def timeout(self) -> float:
        """Of one try, where its call says nothing else."""
        return self._settings.timeout

    async def send(self, request: ApiRequest) -> Any:
        """The object of the answer; None for a deletion."""
        prepared, max_retries = self._prepare(request)
        outcome_unknown = False
        attempt = 0
        while True:
            attempt += 1
            started = time.monotonic()
            wire = self._announce(prepared, attempt)
            try:
                response = await self._exchange(wire)
                outcome_unknown = outcome_unknown or response.was_sent_before
                value = self._read(response, request.method)
            except Failed as failed:
                error = failed.error
                delay = self._delay_after(failed, attempt, max_retries)
                self._report(wire, attempt, started, error.status, error.request_id, error, delay)
                # The answer to an earlier try was lost, and what it was to delete is gone: it worked.
                if request.method == "DELETE" and outcome_unknown and error.status == 404:
                    return None
                if delay is None:
                    raise error from None
                outcome_unknown = outcome_unknown or error.status is None or error.status >= 500
                await self._io.sleep(delay)
                continue
            request_id = response.headers.get("x-request-id")
            self._report(wire, attempt, started, response.status, request_id, None, None)
            return value

    async def open(self, request: ApiRequest, accept: str) -> Tuple[WireResponse, ThreadStream]:
        """The answer while it still arrives. Failures before its first byte are retried, later ones are the caller's."""
        prepared, max_retries = self._prepare(request)
        prepared.headers["accept"] = accept
        attempt = 0
        while True:
            attempt += 1
            started = time.monotonic()
            wire = self._announce(prepared, attempt)
            try:
                response, stream = await self._open(wire)
            except Failed as failed:
                error = failed.error
                delay = self._delay_after(failed, attempt, max_retries)
                self._report(wire, attempt, started, error.status, error.request_id, error, delay)
                if delay is None:
                    raise error from None
                await self._io.sleep(delay)
                continue
            request_id = response.headers.get("x-request-id")
            try:
                self._report(wire, attempt, started, response.status, request_id, None, None)
            except BaseException:
                # Where a hook raises at an answer, nobody is there to read it.
                await stream.close()
                raise
            return response, stream

    async def sleep(self, seconds: float) -> None:
        await self._io.sleep(seconds)

    async def close(self) -> None:
        await self._io.close()

    async def _exchange(self, wire: WireRequest) -> WireResponse:
        try:
            return await self._io.send(wire)
        except (OSError, http.client.HTTPException, TooLarge) as cause:
            raise Failed(self._connection_error(wire, cause)) from None

    async def _open(self, wire: WireRequest) -> Tuple[WireResponse, ThreadStream]:
        try:
            response, stream = await self._io.open(wire)
        except (OSError, http.client.HTTPException, TooLarge) as cause:
            raise Failed(self._connection_error(wire, cause)) from None
        if not 200 <= response.status < 300:
            await stream.close()
            raise self._refused(response)
        return response, stream

    def _prepare(self, request: ApiRequest) -> Tuple[WireRequest, int]:
        settings = self._settings
        headers = {
            "accept": "application/json",
            "api-version": API_VERSION,
            "user-agent": f"payments-api-python/{VERSION} (python {platform.python_version()})",
        }
        for more in (settings.headers, request.headers):
            headers.update({name.lower(): value for name, value in more.items()})
        body = None
        if request.body is not None:
            headers["content-type"] = "application/json"
            body = json.dumps(request.body, ensure_ascii=False, allow_nan=False, default=_to_json).encode("utf-8")
        if request.method == "POST":
            own_key = request.idempotency_key
            headers["idempotency-key"] = _read_key(headers.get("idempotency-key") if own_key is None else own_key)
        timeout = settings.timeout if request.timeout is None else request.timeout
        max_retries = settings.max_retries if request.max_retries is None else request.max_retries
        wire = WireRequest(
            method=request.method,
            url=f"{settings.base_url}{request.path}{_query_string(request.query)}",
            headers=headers,
            body=body,
            timeout=read_number("timeout", timeout, 0.001, TIMEOUT_MAX),
        )
        return wire, int(read_number("max_retries", max_retries, 0, RETRIES_MAX))

    def _announce(self, prepared: WireRequest, attempt: int) -> WireRequest:
        headers = dict(prepared.headers)
        if self._settings.on_request is not None:
            self._settings.on_request(RequestInfo(prepared.method, prepared.url, headers, attempt))
        _check_headers(headers)
        sent = {**headers, "authorization": f"Bearer {self._settings.api_key}"}
        if self._settings.base_url.startswith("http://"):
            sent.update(self._io.proxy_headers())
        return WireRequest(prepared.method, prepared.url, sent, prepared.body, prepared.timeout)

    def _report(
        self,
        wire: WireRequest,
        attempt: int,
        started: float,
        status: Optional[int],
        request_id: Optional[str],
        error: Optional[PaymentsError],
        retry_in: Optional[float],
    ) -> None:
        if self._settings.on_response is None:
            return
        duration = time.monotonic() - started
        self._settings.on_response(
            ResponseInfo(wire.method, wire.url, attempt, status, request_id, duration, error, retry_in)
        )

    def _delay_after(self, failed: Failed, attempt: int, max_retries: int) -> Optional[float]:
        if attempt > max_retries or not failed.error.retryable:
            return None
        return delay_before_retry(attempt - 1, failed.retry_after, random.random)

    def _read(self, response: WireResponse, method: str) -> Any:
        """The object of an answer; None where something was deleted, since everything else is answered with one."""
        if not 200 <= response.status < 300:
            raise self._refused(response)
        if response.body == b"":
            if method == "DELETE":
                return None
            # It may have been lost on its way, and what it was to tell with it: the same key asks for it again.
            raise self._unusable(response, "an empty body", True)
        try:
            value = json.loads(response.body.decode("utf-8"), object_hook=ApiObject)
        except (ValueError, RecursionError):
            kind = response.headers.get("content-type", "no content type")
            # What calls itself JSON and is none was cut on its way; anything else comes from another server.
            raise self._unusable(response, f"a body that is not JSON ({kind})", "json" in kind.lower()) from None
        if not isinstance(value, dict):
            raise self._unusable(response, "JSON that is no object", False)
        return value

    def _unusable(self, response: WireResponse, what: str, retryable: bool) -> Failed:
        message = f"{self._settings.origin} answered {response.status} with {what}: is the address right?"
        return Failed(
            ConnectionFailedError(message, code="invalid_response", status=response.status, retryable=retryable)
        )

    def _refused(self, response: WireResponse) -> Failed:
        problem = _read_problem(response)
        status = response.status
        code = problem.get("code")
        code = code if isinstance(code, str) else f"http_{status}"
        retry_after = parse_retry_after(response.headers.get("retry-after"), time.time())
        fields = problem.get("errors")
        errors = [FieldError(one) for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []
        request_id = response.headers.get("x-request-id") or problem.get("request_id")
        error = error_class_of(status)(
            self._message_of(status, problem, errors),
            status=status,
            code=code,
            request_id=request_id if isinstance(request_id, str) else None,
            errors=errors,
            retryable=is_retryable(status, code, retry_after),
            retry_after=retry_after,
            problem=problem,
        )
        return Failed(error, retry_after)

    def _message_of(self, status: int, problem: Mapping[str, Any], errors: List[FieldError]) -> str:
        origin = self._settings.origin
        if 300 <= status < 400:
            return f"{origin} answered {status}, a redirect, which is not followed: is the address right?"
        detail = problem.get("detail")
        if not isinstance(detail, str):
            return f"{origin} answered {status}."
        named = [f"{one.pointer or one.parameter or ''}: {one.get('detail', '')}" for one in errors]
        return " ".join([detail, *named])

    def _connection_error(self, wire: WireRequest, cause: BaseException) -> ConnectionFailedError:
        origin = self._settings.origin
        if isinstance(cause, TooLarge):
            return ConnectionFailedError("The answer is larger than this client takes.", code="invalid_response")
        if isinstance(cause, TimeoutError):
            message = f"{origin} gave no whole answer within {wire.timeout:g} s."
            return ConnectionFailedError(message, code="timeout", retryable=True)
        # A certificate that is refused now is refused in a second, too.
        lasting = isinstance(cause, ssl.SSLCertVerificationError)
        message = f"Could not get an answer from {origin}: {_reason_of(cause)}."
        return ConnectionFailedError(message, code="connection_failed", retryable=not lasting)


def _reason_of(cause: BaseException) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"certificate refused ({cause.verify_message})"
    if isinstance(cause, http.client.RemoteDisconnected):
        return "the connection was cut"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(cause) or type(cause).__name__


def _read_problem(response: WireResponse) -> Dict[str, Any]:
    """Whatever stands between us and the server answers in its own way: anything but a problem document says nothing."""
    if "json" not in response.headers.get("content-type", "").lower():
        return {}
    try:
        value = json.loads(response.body.decode("utf-8"), object_hook=ApiObject)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _read_key(key: Optional[str]) -> str:
    if key is None:
        return str(uuid.uuid4())
    if not isinstance(key, str) or not re.fullmatch(r"[\x20-\x7e]{1,257}", key):
        raise ValueError("idempotency_key must have 1 to 255 printable ASCII characters")
    return key


def _check_headers(headers: Mapping[str, str]) -> None:
    """A header that cannot be sent is a mistake in the call."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(str(value)):
            raise ValueError(f"The header {name!r} cannot be sent: it has characters that no header has")


def _to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_time(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def to_time(value: Union[str, datetime]) -> str:
    """ISO 8601 in UTC; a time without a zone is taken for the machine's own."""
    if isinstance(value, str):
        return value
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _query_string(query: Mapping[str, Any]) -> str:
    pairs: List[Tuple[str, str]] = []
    for name, value in query.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            pairs.extend((f"{name}[{key}]", str(text)) for key, text in value.items())
        elif isinstance(value, datetime):
            pairs.append((name, to_time(value)))
        elif isinstance(value, bool):
            pairs.append((name, "true" if value else "false"))
        else:
            pairs.append((name, str(value)))
    return f"?{urlencode(pairs)}" if pairs else ""


def segment(id: str) -> str:
    """An id as a part of a path; one that would lead to another path is refused."""
    if not isinstance(id, str) or not re.search(r"[^.\s]", id):
        raise ValueError("An id is a text that is not empty.")
    return quote(id, safe="")


def given(**values: Any) -> Dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in values.items() if value is not None}
