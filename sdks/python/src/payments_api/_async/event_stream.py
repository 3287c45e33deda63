from __future__ import annotations

import http.client
import itertools
import json
import random
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import AsyncIterator, Callable, Iterator, List, Optional

from .._errors import ConnectionFailedError, InvalidRequestError, PaymentsError
from .._event_types import to_event
from .._objects import ApiObject
from .._retry import asked, backoff
from .._threads import ThreadStream
from ..types import Event, Page
from .pagination import AsyncPaged
from .request import ApiRequest, AsyncHttpClient

LINE_LENGTH_MAX = 4 * 1024 * 1024
#: A stream that says nothing for so long, not even a comment, is taken for dead.
SILENCE_MAX = 60.0
#: Ids of events that were given out already, so that a server that repeats some on resuming doubles none.
IDS_REMEMBERED_MAX = 10_000
#: Pages that are walked back over; beyond them whoever reads is told, since events that are left out would be missed by nobody.
CATCH_UP_PAGES_MAX = 1_000

ReconnectHook = Callable[[PaymentsError, float], None]


@dataclass
class Block:
    """One block of a server-sent event stream; a comment has neither part, and is a sign of life."""

    id: Optional[str]
    data: Optional[str]


class EventStreamParser:
    """Reads the format of server-sent events, in pieces of any size."""

    def __init__(self) -> None:
        self._rest = b""
        self._id: Optional[str] = None
        self._data: List[str] = []

    def feed(self, chunk: bytes) -> Iterator[Block]:
        self._rest += chunk
        # A carriage return at the very end may be the first half of a line break.
        lines = re.split(rb"\r\n|\n|\r(?!\Z)", self._rest)
        self._rest = lines.pop()
        if len(self._rest) > LINE_LENGTH_MAX:
            raise ConnectionFailedError("A line of the event stream is too long.", code="invalid_response")
        for line in lines:
            block = self._line(line.decode("utf-8", errors="replace"))
            if block is not None:
                yield block

    def _line(self, line: str) -> Optional[Block]:
        if line == "":
            block = Block(self._id, "\n".join(self._data) if self._data else None)
            self._id, self._data = None, []
            return None if block.id is None and block.data is None else block
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "id" and "\0" not in value:
            self._id = value
        elif name == "data":
            self._data.append(value)
        elif name == "":
            return Block(None, None)
        return None


class Memory:
    """Tells the first time that an id is met."""

    def __init__(self) -> None:
        self._ids: "OrderedDict[str, None]" = OrderedDict()

    def is_new(self, id: str) -> bool:
        if id in self._ids:
            return False
        self._ids[id] = None
        if len(self._ids) > IDS_REMEMBERED_MAX:
            self._ids.popitem(last=False)
        return True


async def async_stream_events(
    http_client: AsyncHttpClient,
    newest: Callable[[], AsyncPaged[Event]],
    last_event_id: Optional[str],
    on_reconnect: Optional[ReconnectHook],
) -> AsyncIterator[Event]:
    """The organisation's events as they happen. A lost connection is made again and goes on after the last event."""
    memory = Memory()
    last_id = last_event_id or None
    # After which event to look, where the server cannot go on after one: the newest of the beginning, or the last that
    # was heard; empty for none.
    before = None if last_event_id is None else ""
    has_connected = False
    failures = 0
    while True:
        stream: Optional[ThreadStream] = None
        try:
            if last_id is None and before is None:
                first = (await newest().page()).data
                before = first[0].id if first else ""
            headers = {} if last_id is None else {"last-event-id": last_id}
            request = ApiRequest("GET", "/v1/events/stream", headers=headers, max_retries=0)
            response, stream = await http_client.open(request, "text/event-stream")
            _check_type(response.headers.get("content-type", "no content type"), response.status)
            has_connected = True
            if last_id is None:
                # There is nothing that the server could go on after: what happened meanwhile is looked up, in case a
                # first connection broke before it said a word.
                async for event in async_events_since(newest(), before or ""):
                    last_id = event.id
                    if memory.is_new(event.id):
                        yield event
            parser = EventStreamParser()
            while True:
                chunk = await _read(stream)
                if not chunk:
                    raise ConnectionFailedError(
                        "The server ended the stream.", code="connection_failed", retryable=True
                    )
                for block in parser.feed(chunk):
                    failures = 0
                    if block.data is not None:
                        event = _parse_event(block.data)
                        last_id = block.id or event.id
                        if memory.is_new(event.id):
                            yield event
                    elif block.id is not None:
                        last_id = block.id
        except PaymentsError as failure:
            if failure.code == "last_event_unknown" and has_connected and last_id is not None:
                # It has become too old, and the list still ends at it; or the sandbox was reset, and all that is listed
                # is new.
                last_id, before = None, last_id
            elif not failure.retryable:
                raise
            delay = max(backoff(failures, random.random), asked(failure.retry_after))
            failures += 1
            if on_reconnect is not None:
                on_reconnect(failure, delay)
            await http_client.sleep(delay)
        finally:
            # Whoever stops reading hangs up.
            if stream is not None:
                await stream.close()


async def async_events_since(events: AsyncPaged[Event], before: str) -> AsyncIterator[Event]:
    """What came after this event, or all that is kept where it is empty or gone; oldest first.

    The list is newest first, so it is walked to its end before anything is told, and of each page only where it begins is
    kept: they may be many.
    """
    newest = await events.page()
    cursors: List[str] = []
    oldest = newest
    cursor = _cursor_on(oldest, before)
    # A server that answers the same cursor again has nothing more to tell.
    while cursor is not None and cursor not in cursors[-1:]:
        if len(cursors) >= CATCH_UP_PAGES_MAX - 1:
            raise _too_many(before, CATCH_UP_PAGES_MAX * len(newest.data))
        cursors.append(cursor)
        oldest = await events.page(cursor)
        cursor = _cursor_on(oldest, before)
    for event in _oldest_first(oldest, before):
        yield event
    for cursor in reversed(cursors[:-1]):
        for event in _oldest_first(await events.page(cursor), before):
            yield event
    if oldest is not newest:
        for event in _oldest_first(newest, before):
            yield event


def _cursor_on(page: Page[Event], before: str) -> Optional[str]:
    """Where what came after the event goes on; None where this page is the last of it."""
    return None if any(event.id == before for event in page.data) else page.get("next_cursor")


def _oldest_first(page: Page[Event], before: str) -> List[Event]:
    found = list(itertools.takewhile(lambda event: event.id != before, page.data))
    found.reverse()
    return found


def _too_many(before: str, count: int) -> InvalidRequestError:
    which = f"came after {before}" if before else "are kept"
    message = f"More than {count} events {which}, which is more than a stream catches up with: list them."
    return InvalidRequestError(message, code="last_event_unknown")


def _check_type(kind: str, status: int) -> None:
    if kind.startswith("text/event-stream"):
        return
    message = f"The server answered with {kind} instead of an event stream: is the address right?"
    raise ConnectionFailedError(message, code="invalid_response", status=status)


def _parse_event(data: str) -> Event:
    try:
        value = json.loads(data, object_hook=ApiObject)
    except (ValueError, RecursionError):
        raise ConnectionFailedError("An event of the stream is not JSON.", code="invalid_response") from None
    if isinstance(value, dict) and isinstance(value.get("id"), str):
        return to_event(value)
    raise ConnectionFailedError("An event of the stream has no id.", code="invalid_response")


async def _read(stream: ThreadStream) -> bytes:
    """What comes next. An error of anything else around the reading, as a hook's, is no cut line."""
    try:
        return await stream.read(SILENCE_MAX)
    except TimeoutError:
        raise ConnectionFailedError("The stream fell silent.", code="timeout", retryable=True) from None
    except (OSError, http.client.HTTPException):
        raise ConnectionFailedError("The stream was cut.", code="connection_failed", retryable=True) from None
