"""HTTP by the standard library's own client, with connections that are kept and a bound on everything."""

from __future__ import annotations

import base64
import contextlib
import http.client
import os
import select
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union
from urllib.parse import unquote, urlsplit

from ._settings import Settings

RESPONSE_BYTES_MAX = 64 * 1024 * 1024
READ_BYTES = 64 * 1024
IDLE_CONNECTIONS_MAX = 16

_Connection = Union[http.client.HTTPConnection, http.client.HTTPSConnection]


@dataclass
class WireRequest:
    method: str
    url: str
    #: With the key, which must not stand in a report of local variables.
    headers: Dict[str, str] = field(repr=False)
    body: Optional[bytes] = field(repr=False)
    timeout: float


@dataclass
class WireResponse:
    status: int
    #: Names in lower case.
    headers: Mapping[str, str]
    body: bytes
    #: The request was sent before, over a kept connection that ended without an answer: the server may have carried it out.
    was_sent_before: bool = False


class TooLarge(Exception):
    """The answer is larger than this client takes."""


class CutShort(OSError):
    """The answer ended before its end."""


class Exchange:
    """One request and its answer. ``cancel`` may be called from another thread, and ends it at once."""

    def __init__(self, io: BlockingIo, request: WireRequest) -> None:
        self._io = io
        self._request = request
        #: Held here, since a connection lets go of it when the answer is to be its last.
        self._socket: Optional[socket.socket] = None
        self._copy: Optional[socket.socket] = None
        self._canceled = False
        self._is_late = False
        self._was_sent_before = False
        #: From now on, since it may wait for a thread.
        self._deadline = time.monotonic() + request.timeout

    def run(self) -> WireResponse:
        connection, response, body = self._begin(stays_open=False)
        # Without it, the connection takes no further request, although nothing is left to read.
        response.close()
        # From here on it is of whoever takes it next.
        self._socket = None
        if response.will_close:
            connection.close()
        else:
            self._io.keep(connection)
        return WireResponse(response.status, _headers_of(response), body, self._was_sent_before)

    def open(self) -> Tuple[WireResponse, Stream]:
        """The answer while it still arrives; a refusal is read whole."""
        connection, response, body = self._begin(stays_open=True)
        if response.status >= 300:
            connection.close()
            return WireResponse(response.status, _headers_of(response), body), Stream(None, None, None)
        return WireResponse(response.status, _headers_of(response), b""), Stream(connection, response, self._socket)

    def cancel(self) -> None:
        self._canceled = True
        _hang_up(self._socket)

    def _begin(self, stays_open: bool) -> Tuple[_Connection, http.client.HTTPResponse, bytes]:
        """The answer with its body, but for one that stays open."""
        connection: Optional[_Connection] = None
        try:
            with _in_time(self.left(), self._give_up):
                connection, response = self._try()
                # The body of a refusal is read in any case, since it says why.
                body = b"" if stays_open and response.status < 300 else self._read_all(response)
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        return connection, response, body

    def _give_up(self) -> None:
        self._is_late = True
        _hang_up(self._socket)

    def _try(self) -> Tuple[_Connection, http.client.HTTPResponse]:
        while True:
            connection, is_used = self._io.take()
            self._socket = connection.sock
            try:
                return connection, self._send(connection)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                connection.close()
                # A kept connection that the server has given up meanwhile says nothing about the request.
                if not is_used or self._canceled or self._is_late:
                    raise
                self._was_sent_before = True
            except BaseException:
                connection.close()
                raise

    def _send(self, connection: _Connection) -> http.client.HTTPResponse:
        if self._canceled:
            raise CutShort("canceled")
        connection.timeout = self.left()
        if connection.sock is None:
            # http.client's own way gives each address of a name the whole time.
            setattr(connection, "_create_connection", self._dial)
            try:
                connection.connect()
                self._socket = connection.sock
            finally:
                self._let_go()
            if self._canceled:
                raise CutShort("canceled")
        raw = connection.sock
        assert raw is not None, "connect() has made one"
        raw.settimeout(self.left())
        request = self._request
        try:
            connection.request(request.method, self._io.target_of(request.url), request.body, request.headers)
        except (BrokenPipeError, ConnectionResetError):
            # A server may refuse a body before it has read all of it: then its answer is there to be read.
            if self._canceled:
                raise
        raw.settimeout(self.left())
        return connection.getresponse()

    def _dial(self, address: Tuple[str, int], *_: object) -> socket.socket:
        places = socket.getaddrinfo(address[0], address[1], 0, socket.SOCK_STREAM)
        failure: OSError = OSError("the name has no address")
        for index, (family, kind, protocol, _name, place) in enumerate(places):
            share = self.left() / (len(places) - index)
            raw = socket.socket(family, kind, protocol)
            try:
                self._hold(raw)
                raw.settimeout(share)
                raw.connect(place)
                raw.settimeout(self.left())
                return raw
            except OSError as error:
                raw.close()
                self._let_go()
                if self._canceled:
                    raise
                failure = error
        raise failure

    def _hold(self, raw: socket.socket) -> None:
        """From the first packet on there is something to hang up on: a copy, since TLS takes the socket over for its handshake
        and leaves an empty one behind."""
        self._socket = self._copy = raw.dup()
        if self._canceled:
            raise CutShort("canceled")

    def _let_go(self) -> None:
        if self._copy is not None:
            self._copy.close()
        self._copy = None

    def _read_all(self, response: http.client.HTTPResponse) -> bytes:
        chunks: List[bytes] = []
        size = 0
        expected = _length_of(response) if self._request.method != "HEAD" else 0
        # Newer versions of Python close it with its last byte, and the socket, too, where that was its last answer.
        while not response.isclosed():
            if self._socket is not None:
                self._socket.settimeout(self.left())
            chunk = response.read1(READ_BYTES)
            if not chunk:
                break
            size += len(chunk)
            if size > RESPONSE_BYTES_MAX:
                raise TooLarge()
            chunks.append(chunk)
        if expected is not None and size < expected:
            raise CutShort("cut short")
        return b"".join(chunks)

    def left(self) -> float:
        """How many seconds there are until the try is over; TimeoutError where it is."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError()
        return left


class Stream:
    """A body while it arrives."""

    def __init__(
        self,
        connection: Optional[_Connection],
        response: Optional[http.client.HTTPResponse],
        raw: Optional[socket.socket],
    ) -> None:
        self._connection = connection
        self._response = response
        self._socket = raw
        #: How much is still to come, where the answer said it.
        self._left = None if response is None else _length_of(response)

    def read(self, silence_max: float) -> bytes:
        """Some bytes; none at the end. TimeoutError when nothing comes for so long."""
        if self._response is None or self._socket is None:
            return b""
        chunk = b""
        if not self._response.isclosed():
            self._socket.settimeout(silence_max)
            with _in_time(silence_max, lambda: _hang_up(self._socket)):
                chunk = self._response.read1(READ_BYTES)
        if self._left is not None:
            self._left -= len(chunk)
            if not chunk and self._left > 0:
                raise CutShort("cut short")
        return chunk

    def close(self) -> None:
        """From any thread: a reader that waits meanwhile comes to the end."""
        _hang_up(self._socket)
        if self._connection is not None:
            self._connection.close()


class BlockingIo:
    """The connections of one client. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._base = urlsplit(settings.base_url)
        self._proxy = urlsplit(settings.proxy) if settings.proxy else None
        self._context = _context_of(settings.ca) if self._base.scheme == "https" else None
        self._idle: List[_Connection] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def send(self, request: WireRequest) -> WireResponse:
        return Exchange(self, request).run()

    def open(self, request: WireRequest) -> Tuple[WireResponse, Stream]:
        return Exchange(self, request).open()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def close(self) -> None:
        self._notice_fork()
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        # A client that was let go without `close()` leaves no connection open.
        if hasattr(self, "_lock"):
            self.close()

    def take(self) -> Tuple[_Connection, bool]:
        """A connection, and whether it was used before."""
        self._notice_fork()
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._connect(), False
            if _is_alive(connection):
                return connection, True
            connection.close()

    def _notice_fork(self) -> None:
        """A process that was forked shares its parent's sockets, and each would read the other's answers."""
        if self._process == os.getpid():
            return
        shared, self._process, self._lock, self._idle = self._idle, os.getpid(), threading.Lock(), []
        # This closes the copies of this process, and says nothing to the server.
        for connection in shared:
            connection.close()

    def keep(self, connection: _Connection) -> None:
        with self._lock:
            if len(self._idle) < IDLE_CONNECTIONS_MAX:
                self._idle.append(connection)
                return
        connection.close()

    def target_of(self, url: str) -> str:
        """A proxy is asked for the whole URL of a plain address; every server, for its path."""
        if self._proxy is not None and self._base.scheme == "http":
            return url
        return url[len(f"{self._base.scheme}://{self._base.netloc}") :]

    def _connect(self) -> _Connection:
        host = self._base.hostname or ""
        port = self._base.port or (443 if self._base.scheme == "https" else 80)
        if self._proxy is None:
            return self._to(host, port)
        proxy_host, proxy_port = self._proxy.hostname or "", self._proxy.port or 80
        connection = self._to(proxy_host, proxy_port)
        if self._context is not None:
            connection.set_tunnel(host, port, headers=self.proxy_headers())
        return connection

    def _to(self, host: str, port: int) -> _Connection:
        if self._context is not None:
            return http.client.HTTPSConnection(host, port, context=self._context)
        return http.client.HTTPConnection(host, port)

    def proxy_headers(self) -> Dict[str, str]:
        if self._proxy is None or self._proxy.username is None:
            return {}
        pair = f"{unquote(self._proxy.username)}:{unquote(self._proxy.password or '')}"
        return {"Proxy-Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _context_of(ca: Optional[str]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca is not None:
        try:
            if "-----BEGIN CERTIFICATE-----" in ca:
                context.load_verify_locations(cadata=ca)
            else:
                context.load_verify_locations(cafile=ca)
        except (OSError, ValueError):
            raise ValueError("ca must be certificates in PEM form, or the path of a file with them") from None
    return context


@contextlib.contextmanager
def _in_time(seconds: float, give_up: Callable[[], None]) -> Iterator[None]:
    """TimeoutError where it takes longer.

    A socket's own time-out is for one read, and headers, or what stands between chunks and behind them, take as many reads
    as they like where they come byte by byte.
    """
    late = threading.Event()

    def ring() -> None:
        late.set()
        give_up()

    bell = threading.Timer(seconds, ring)
    bell.daemon = True
    bell.start()
    try:
        yield
    except Exception:
        if late.is_set():
            raise TimeoutError() from None
        raise
    finally:
        bell.cancel()
        # Its thread ends with what it bounds, and not some time after it.
        bell.join()
    # A connection that was hung up on may look like the end of its answer.
    if late.is_set():
        raise TimeoutError()


def _hang_up(raw: Optional[socket.socket]) -> None:
    if raw is None:
        return
    try:
        raw.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # It ended by itself meanwhile.


def _is_alive(connection: _Connection) -> bool:
    """Nothing was asked, so anything to read means that the server has hung up."""
    if connection.sock is None:
        return False
    # select() takes no file beyond the 1024th of a process; Windows, which has nothing else, counts otherwise.
    if not hasattr(select, "poll"):
        return not select.select([connection.sock], [], [], 0)[0]
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)


def _headers_of(response: http.client.HTTPResponse) -> Dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def _length_of(response: http.client.HTTPResponse) -> Optional[int]:
    text = response.getheader("content-length")
    if text is None or response.getheader("transfer-encoding") is not None or not text.isdigit():
        return None
    return int(text) if response.status not in (204, 304) else 0
