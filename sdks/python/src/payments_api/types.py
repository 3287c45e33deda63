"""The shapes of the API, with the names that they have on the wire."""

from __future__ import annotations

from typing import Any, Generic, List, Literal, Optional, TypeVar

from ._api_types import *
from ._objects import ApiObject


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


Item = TypeVar("Item")


class Page(ApiObject, Generic[Item]):
    """One page of a list, as it comes over the wire."""

    object: Literal["list"]
    data: List[Item]
    next_cursor: Optional[str]
