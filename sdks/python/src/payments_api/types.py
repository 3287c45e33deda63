"""The shapes of the API, with the names that they have on the wire."""

from __future__ import annotations

from typing import Generic, List, Literal, Optional, TypeVar

from ._api_types import *
from ._event_types import *
from ._objects import ApiObject

Item = TypeVar("Item")


class Page(ApiObject, Generic[Item]):
    """One page of a list, as it comes over the wire."""

    object: Literal["list"]
    data: List[Item]
    next_cursor: Optional[str]
