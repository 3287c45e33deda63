# Made from _async by tools/unasync.py: change it there.
from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Generic, Iterator, List, Optional, TypeVar

from .._errors import ConnectionFailedError
from .._objects import ApiObject
from ..types import Page
from .request import ApiRequest, HttpClient

Item = TypeVar("Item", bound=ApiObject)


class Paged(Generic[Item]):
    """A list, newest first. Nothing is asked for until it is read.

    ``for`` reads on over all pages, ``page()`` gives the first one alone.
    """

    def __init__(self, http: HttpClient, request: ApiRequest, model: Callable[[Any], Item]) -> None:
        self._http = http
        self._request = request
        self._model = model

    def page(self, cursor: Optional[str] = None) -> Page[Item]:
        """The first page, or the one that ``cursor`` asks for."""
        request = self._request
        if cursor is not None:
            request = replace(request, query={**request.query, "cursor": cursor})
        answer = self._http.send(request)
        data = answer.get("data")
        if not isinstance(data, list):
            message = f"{self._http.origin} answered with something that is no list: is the address right?"
            raise ConnectionFailedError(message, code="invalid_response")
        page: Page[Item] = Page(answer)
        page["data"] = [self._model(item) for item in data]
        return page

    def pages(self) -> Iterator[Page[Item]]:
        cursor: Optional[str] = None
        while True:
            page = self.page(cursor)
            yield page
            # A server that answers the same cursor again would keep us here for ever.
            following = page.get("next_cursor")
            if following is None or following == cursor:
                return
            cursor = following

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            for item in page.data:
                yield item

    def to_list(self, *, limit: int) -> List[Item]:
        """At most so many items."""
        items: List[Item] = []
        if limit <= 0:
            return items
        for item in self:
            items.append(item)
            if len(items) >= limit:
                break
        return items
