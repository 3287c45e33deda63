"""Standard Webhooks: HMAC-SHA256 over "id.timestamp.body", one signature per valid secret."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Dict, Iterable, List, Optional, Protocol, Sequence, Tuple, Union

from ._errors import SignatureInvalidError
from ._event_types import WebhookEvent, to_webhook_event
from ._objects import ApiObject

SECRET_PREFIX = "whsec_"
SECRET_BYTES_MIN = 16
SECRET_BYTES_MAX = 64
TOLERANCE_SECONDS = 5 * 60
SIGNATURES_READ_MAX = 16
#: Spaces; or the comma by which servers join the lines of a header.
SIGNATURES_APART = re.compile(r",? +|,(?=v[0-9]+[a-z]*,)")

Body = Union[bytes, bytearray, memoryview, str]


class WithItems(Protocol):
    """A mapping, or what only has its pairs, as the headers of the standard library's own server."""

    def items(self) -> Iterable[Tuple[Any, Any]]: ...


#: As a framework gives them: something with items, or pairs of text or bytes.
Headers = Union[WithItems, Iterable[Tuple[Any, Any]]]


class Webhooks:
    def verify(
        self,
        body: Body,
        headers: Headers,
        secret: Union[str, Sequence[str]],
        *,
        tolerance_seconds: float = TOLERANCE_SECONDS,
        now: Optional[float] = None,
    ) -> WebhookEvent:
        """The event, if the message was signed with this secret (or one of these) within the last five minutes.

        Give it the body's raw bytes: JSON that was parsed and printed again has other ones. Raises
        SignatureInvalidError otherwise.
        """
        raw = _to_bytes(body)
        message_id, timestamp, signatures = _read_headers(headers)
        secrets = [secret] if isinstance(secret, str) else list(secret or [])
        keys = [_decode_secret(one) for one in secrets]
        if not keys:
            raise SignatureInvalidError("bad_secret", "No secret was given.")
        _check_time(timestamp, tolerance_seconds, time.time() if now is None else now)
        matches = False
        for key in keys:
            wanted = _digest(key, message_id, timestamp, raw)
            for given in signatures:
                # Every pair is compared, in a time that does not tell which part was right.
                if hmac.compare_digest(given, wanted):
                    matches = True
        if not matches:
            raise SignatureInvalidError(
                "no_match", "No signature fits: another secret, or a body that is not byte for byte what was sent."
            )
        return _parse_event(raw)

    def sign(
        self,
        body: Body,
        secret: Union[str, Sequence[str]],
        *,
        id: Optional[str] = None,
        now: Optional[float] = None,
    ) -> Dict[str, str]:
        """The headers of a message signed with this secret, for the tests of your own receiver."""
        raw = _to_bytes(body)
        message_id = id if id is not None else _id_of(raw)
        timestamp = str(int(time.time() if now is None else now))
        secrets = [secret] if isinstance(secret, str) else list(secret)
        signatures = [
            "v1," + base64.b64encode(_digest(_decode_secret(one), message_id, timestamp, raw)).decode("ascii")
            for one in secrets
        ]
        return {
            "webhook-id": message_id,
            "webhook-timestamp": timestamp,
            "webhook-signature": " ".join(signatures),
        }


webhooks = Webhooks()


def _digest(key: bytes, message_id: str, timestamp: str, body: bytes) -> bytes:
    try:
        head = f"{message_id}.{timestamp}.".encode("utf-8")
    except UnicodeEncodeError:
        # What came was no UTF-8, and a framework made such a text of it.
        raise SignatureInvalidError("no_match", "The webhook-id is no text that a message has: no signature fits.") from None
    return hmac.new(key, head + body, hashlib.sha256).digest()


def _to_bytes(body: Any) -> bytes:
    if isinstance(body, str):
        try:
            return body.encode("utf-8")
        except UnicodeEncodeError:
            raise SignatureInvalidError("bad_body", "The body is no text that can be sent: give the raw bytes.") from None
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise SignatureInvalidError(
        "bad_body", "The body must be the raw text or bytes as received, not the object that was parsed from it."
    )


def _decode_secret(secret: Any) -> bytes:
    if isinstance(secret, str) and secret.startswith(SECRET_PREFIX):
        text = secret[len(SECRET_PREFIX) :].rstrip("=")
        try:
            key = base64.b64decode(_padded(text), validate=True)
        except (binascii.Error, ValueError):
            key = b""
        is_exact = base64.b64encode(key).decode("ascii").rstrip("=") == text
        if is_exact and SECRET_BYTES_MIN <= len(key) <= SECRET_BYTES_MAX:
            return key
    raise SignatureInvalidError("bad_secret", f"A webhook secret is {SECRET_PREFIX} and base64.")


def _padded(text: str) -> str:
    return text + "=" * (-len(text) % 4)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return str(value)


def _lines_of(value: Any) -> List[str]:
    if value is None:
        return []
    return [_text(one) for one in value] if isinstance(value, (list, tuple)) else [_text(value)]


def _read_headers(headers: Any) -> Tuple[str, str, List[bytes]]:
    pairs = headers.items() if hasattr(headers, "items") else headers or []
    found: Dict[str, str] = {}
    signatures: List[str] = []
    for name, value in pairs:
        lines = _lines_of(value)
        # Of a header that comes in several lines, signatures add up; anything else is said once.
        if _text(name).lower() == "webhook-signature":
            signatures += lines
        elif lines:
            found[_text(name).lower()] = lines[0]
    found["webhook-signature"] = " ".join(signatures)

    def read(name: str) -> str:
        value = found.get(name)
        if value:
            return value
        raise SignatureInvalidError(
            "missing_header", f"The header {name} is missing: this is no signed webhook."
        )

    message_id, timestamp = read("webhook-id"), read("webhook-timestamp")
    entries = SIGNATURES_APART.split(read("webhook-signature"))[:SIGNATURES_READ_MAX]
    return message_id, timestamp, [_decode_signature(entry[3:]) for entry in entries if entry.startswith("v1,")]


def _decode_signature(text: str) -> bytes:
    """In either alphabet of base64, with or without its padding: a proxy may have written it anew."""
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(_padded(plain))
    except (binascii.Error, ValueError):
        return b""


def _check_time(timestamp: str, tolerance: float, now: float) -> None:
    if not re.fullmatch(r"[0-9]{1,15}", timestamp):
        raise SignatureInvalidError("bad_timestamp", "The header webhook-timestamp is not a time in seconds.")
    age = now - int(timestamp)
    if abs(age) <= tolerance:
        return
    side = "before" if age > 0 else "after"
    raise SignatureInvalidError(
        "too_old" if age > 0 else "too_new",
        f"The message is from {round(abs(age))} s {side} this machine's time, and {tolerance:g} s are allowed: "
        "an old message sent again, or a clock that is off.",
    )


def _parse_event(raw: bytes) -> WebhookEvent:
    try:
        value = json.loads(raw.decode("utf-8"), object_hook=ApiObject)
    except (ValueError, RecursionError):
        raise SignatureInvalidError("bad_body", "The signature fits, but the body is not JSON.") from None
    if not isinstance(value, dict):
        raise SignatureInvalidError("bad_body", "The signature fits, but the body is no event.")
    return to_webhook_event(value)


def _id_of(raw: bytes) -> str:
    """A webhook's id is its event's, which the body names."""
    try:
        value = json.loads(raw)
        found = value.get("id")
    except (ValueError, AttributeError, RecursionError):
        found = None
    return found if isinstance(found, str) and found else "evt_test"
