from __future__ import annotations

from dataclasses import replace
from typing import Any, AsyncIterator, Callable, Generator, Generic, List, Optional, TypeVar

from .._errors import ConnectionFailedError
from .._objects import ApiObject
from ..types import Page
from .request import ApiRequest, AsyncHttpClient

Item = TypeVar("Item", bound=ApiObject)


class AsyncPaged(Generic[Item]):
    """A list, newest first. Nothing is asked for until it is read.

    ``for`` reads on over all pages, ``page()`` gives the first one alone.
    """

    def __init__(self, http: AsyncHttpClient, request: ApiRequest, model: Callable[[Any], Item]) -> None:
        self._http = http
        self._request = request
        self._model = model

    async def page(self, cursor: Optional[str] = None) -> Page[Item]:
        """The first page, or the one that ``cursor`` asks for."""
        request = self._request
        if cursor is not None:
            request = replace(request, query={**request.query, "cursor": cursor})
        answer = await self._http.send(request)
        data = answer.get("data")
        if not isinstance(data, list):
            message = f"{self._http.origin} answered with something that is no list: is the address right?"
            raise ConnectionFailedError(message, code="invalid_response")
        page: Page[Item] = Page(answer)
        page["data"] = [self._model(item) for item in data]
        return page

    async def pages(self) -> AsyncIterator[Page[Item]]:
        cursor: Optional[str] = None
        while True:
            page = await self.page(cursor)
            yield page
            # A server that answers the same cursor again would keep us here for ever.
            following = page.get("next_cursor")
            if following is None or following == cursor:
                return
            cursor = following

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in page.data:
                yield item

    async def to_list(self, *, limit: int) -> List[Item]:
        """At most so many items."""
        items: List[Item] = []
        if limit <= 0:
            return items
        async for item in self:
            items.append(item)
            if len(items) >= limit:
                break
        return items

    # async only: begin
    def __await__(self) -> Generator[Any, None, Page[Item]]:
        return self.page().__await__()

    # async only: end
