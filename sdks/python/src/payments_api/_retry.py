"""When to send a request again, and how long to wait before: no I/O, so that every case can be tested."""

from __future__ import annotations

import re
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Callable, Optional

#: The first wait is up to this long, the second up to twice that, and so on.
BACKOFF_BASE_SECONDS = 0.5
BACKOFF_MAX_SECONDS = 8.0
#: A server that asks for more patience than this gets none: the caller is told instead.
RETRY_AFTER_MAX_SECONDS = 60.0

#: 5xx that the same request meets again until somebody changes the server's settings.
_LASTING_CODES = frozenset({"rail_not_configured"})


def is_retryable(status: int, code: str, retry_after: Optional[float]) -> bool:
    """Whether the same request, with the same idempotency key, may succeed later."""
    if code in _LASTING_CODES:
        return False
    if status in (408, 429) or status >= 500:
        return True
    # Other conflicts are about the object's state and stay; this one is about the first try, which is still under way.
    return status == 409 and (code == "idempotency_key_in_use" or retry_after is not None)


def parse_retry_after(header: Optional[str], now: float) -> Optional[float]:
    """``Retry-After``, in seconds or as a date; None where it says nothing usable."""
    if header is None:
        return None
    text = header.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    try:
        at = parsedate_to_datetime(text)
        # One of the forms of a date in HTTP names no zone, and means GMT.
        zoned = at if at.tzinfo is not None else at.replace(tzinfo=timezone.utc)
        return max(0.0, zoned.timestamp() - now)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def backoff(failures: int, random: Callable[[], float]) -> float:
    """Full jitter: any time up to the bound, so that clients that failed together do not come back together."""
    bound: float = min(BACKOFF_MAX_SECONDS, BACKOFF_BASE_SECONDS * 2 ** min(failures, 16))
    return random() * bound


def delay_before_retry(
    failures: int, retry_after: Optional[float], random: Callable[[], float]
) -> Optional[float]:
    """How long to wait before the next try; None where waiting would take too long."""
    if retry_after is None:
        return backoff(failures, random)
    if retry_after > RETRY_AFTER_MAX_SECONDS:
        return None
    return retry_after + random() * BACKOFF_BASE_SECONDS


def asked(retry_after: Optional[float]) -> float:
    """What those who look again and again wait at least; bounded, since they end by a time of their own."""
    return min(retry_after or 0.0, RETRY_AFTER_MAX_SECONDS)
