"""The same HTTP for asyncio: the blocking client runs in threads of its own.

The standard library has no asynchronous HTTP client, and one written here would be a second, younger implementation of TLS, proxies,
chunks and limits beside one that has been used for decades. A thread per request under way costs little next to the request
itself, the event loop never waits, and a task that is cancelled closes its connection at once.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Tuple, TypeVar

from ._blocking import BlockingIo, Exchange, Stream, WireRequest, WireResponse
from ._settings import Settings

THREADS_MAX = 64

Value = TypeVar("Value")


class ThreadStream:
    """A body while it arrives. It has a thread of its own, since it may stay open for days."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="payments-api-stream")

    async def read(self, silence_max: float) -> bytes:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._stream.read, silence_max)
        except asyncio.CancelledError:
            self._stream.close()
            raise

    async def close(self) -> None:
        self._stream.close()
        self._thread.shutdown(wait=False)


class ThreadIo:
    def __init__(self, settings: Settings) -> None:
        self._blocking = BlockingIo(settings)
        self._threads = _new_pool()
        self._process = os.getpid()

    def _pool(self) -> ThreadPoolExecutor:
        # Threads do not come along into a process that was forked.
        if self._process != os.getpid():
            self._process, self._threads = os.getpid(), _new_pool()
        return self._threads

    async def send(self, request: WireRequest) -> WireResponse:
        exchange = Exchange(self._blocking, request)
        return await self._in_thread(exchange, exchange.run)

    async def open(self, request: WireRequest) -> Tuple[WireResponse, ThreadStream]:
        exchange = Exchange(self._blocking, request)
        response, stream = await self._in_thread(exchange, exchange.open)
        return response, ThreadStream(stream)

    async def _in_thread(self, exchange: Exchange, work: Callable[[], Value]) -> Value:
        future = asyncio.get_running_loop().run_in_executor(self._pool(), work)
        try:
            # While all threads are busy with others, none looks at the time of this one.
            done, _ = await asyncio.wait([future], timeout=exchange.left())
            if not done:
                raise TimeoutError()
        except BaseException:
            # Where it still waits it is not begun any more, and where it is under way it is hung up on.
            future.cancel()
            exchange.cancel()
            raise
        return future.result()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def proxy_headers(self) -> "dict[str, str]":
        return self._blocking.proxy_headers()

    async def close(self) -> None:
        self._blocking.close()
        self._pool().shutdown(wait=False)
        # A client that was closed may be used again, as the synchronous one; without a request it has no thread.
        self._threads = _new_pool()


def _new_pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=THREADS_MAX, thread_name_prefix="payments-api")
