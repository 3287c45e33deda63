"""Connections in the states that a long-lived process and newer versions of Python bring them into."""

import asyncio
import contextlib
import fcntl
import http.client
import resource
import socket
import threading
import time
import unittest
from unittest import mock

from payments_api import AsyncPayments, NotFoundError
from payments_api._blocking import Exchange, WireRequest, _is_alive
from scripted_server import ScriptedServer, as_json, cut, problem, text
from test_client import KEY, Case, client


def read1_that_closes_at_the_end(response, n=-1):
    """As of Python 3.11.8, 3.12.2 and 3.13: whoever has read the last byte has closed the answer."""
    if response.fp is None:
        return b""
    if response.chunked:
        return response._read1_chunked(n)
    if response.length is not None and (n < 0 or n > response.length):
        n = response.length
    result = response.fp.read1(n)
    if not result and n:
        response._close_conn()
    elif response.length is not None:
        response.length -= len(result)
        if not response.length:
            response._close_conn()
    return result


class LastAnswers(Case):
    """Answers after which the server closes the connection."""

    def setUp(self):
        newer = mock.patch.object(http.client.HTTPResponse, "read1", read1_that_closes_at_the_end)
        newer.start()
        self.addCleanup(newer.stop)

    def test_an_answer_that_is_the_last_of_its_connection_is_read_whole(self):
        answers = (as_json(200, {"id": "pay_1"}, connection="close"), problem(404, "not_found", connection="close"))
        with ScriptedServer(*answers) as server:
            self.assertEqual(client(server).payments.get("pay_1").id, "pay_1")
            self.assertEqual(self.fails(client(server).payments.get, "pay_1").code, "not_found")

    def test_an_export_that_is_the_last_of_its_connection_is_read_whole(self):
        with ScriptedServer(text(200, "id\npay_1\n", "text/csv", connection="close")) as server:
            self.assertEqual(b"".join(client(server).payments.export()), b"id\npay_1\n")
            self.assertEqual(len(server.seen), 1)


def byte_by_byte(count):
    def answer(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
        for _ in range(count):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)
        handler.close_connection = True

    return answer


@contextlib.contextmanager
def full_queue():
    """Nobody accepts there, and the queue of who waits is full."""
    with socket.socket() as deaf, contextlib.ExitStack() as waiting:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(4):
            caller = waiting.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(deaf.getsockname())
        yield deaf.getsockname()


class SlowBeginnings(Case):
    """The time of a try is for all of it, also before the first byte of the body."""

    def test_headers_that_come_byte_by_byte_take_no_longer_than_a_try_may(self):
        with ScriptedServer(byte_by_byte(100)) as server:
            begun = time.monotonic()
            self.assertEqual(self.fails(client(server, timeout=0.4).payments.get, "pay_1").code, "timeout")
            self.assertLess(time.monotonic() - begun, 3)

    def test_the_addresses_of_a_name_share_the_time(self):
        with full_queue() as address:
            place = (socket.AF_INET, socket.SOCK_STREAM, 0, "", address)
            port = address[1]
            with mock.patch.object(socket, "getaddrinfo", return_value=[place] * 4):
                begun = time.monotonic()
                self.fails(client(f"http://127.0.0.1:{port}", timeout=1).payments.get, "pay_1")
                self.assertLess(time.monotonic() - begun, 3)

    def test_a_call_that_is_canceled_when_it_is_over_cuts_nobody_elses_connection(self):
        with ScriptedServer(as_json(200, {"id": "pay_1"})) as server, client(server) as payments:
            io = payments._http._io
            request = WireRequest("GET", f"{server.url}/v1/payments/pay_1", {}, None, 5)
            first = Exchange(io, request)
            first.run()
            kept = io._idle[0]
            first.cancel()
            self.assertTrue(_is_alive(kept))


class Silent:
    """Takes connections, or leaves them in its queue, and says nothing. Tells when whoever connected has left."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.heard, self.left = threading.Event(), threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError), self.listener.accept()[0] as connection:
            connection.settimeout(10)
            while connection.recv(65536):
                self.heard.set()
            self.left.set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


class Canceled(unittest.IsolatedAsyncioTestCase):
    """A call that is canceled leaves no connection and no thread behind, however far it has come."""

    async def cancels(self, client, begun):
        call = asyncio.create_task(client.payments.get("pay_1"))
        self.assertTrue(await asyncio.to_thread(begun, 5))
        call.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await call

    async def ends(self, client):
        ended = threading.Thread(target=client._http._io._threads.shutdown)
        ended.start()
        await asyncio.to_thread(ended.join, 3)
        self.assertFalse(ended.is_alive())

    async def test_in_the_handshake_of_tls(self):
        with Silent() as server:
            client = AsyncPayments(KEY, f"https://127.0.0.1:{server.port}", timeout=8, max_retries=0)
            await self.cancels(client, server.heard.wait)
            self.assertTrue(await asyncio.to_thread(server.left.wait, 3))
            await self.ends(client)

    async def test_in_the_handshake_of_tls_through_a_proxy(self):
        def tunnel(handler):
            handler.send_response(200)
            handler.end_headers()
            handler.rfile.read(1)
            begun.set()
            while handler.rfile.read1(65536):
                pass
            left.set()
            handler.close_connection = True

        begun, left = threading.Event(), threading.Event()
        with ScriptedServer(tunnel) as proxy:
            client = AsyncPayments(KEY, "https://payments.invalid", timeout=8, max_retries=0, proxy=proxy.url)
            await self.cancels(client, begun.wait)
            self.assertTrue(await asyncio.to_thread(left.wait, 3))
            await self.ends(client)

    async def test_while_nobody_accepts_the_connection(self):
        with full_queue() as address:
            client = AsyncPayments(KEY, f"http://127.0.0.1:{address[1]}", timeout=8, max_retries=0)
            await self.cancels(client, lambda _seconds: time.sleep(0.3) is None)
            await self.ends(client)


def trickling(status, beginning):
    """An answer in chunks that goes on byte by byte for five seconds, and never comes to its end."""

    def answer(handler):
        head = f"HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        handler.wfile.write(head.encode() + beginning)
        for _ in range(100):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)
        handler.close_connection = True

    return answer


class SlowBodies(Case):
    """What stands between the pieces of a body, and behind it, counts as well."""

    beginnings = {"extension": b"2;", "trailers": b"2\r\n{}\r\n0\r\nx: "}

    def takes_no_longer(self, call):
        begun = time.monotonic()
        error = self.fails(call)
        self.assertLess(time.monotonic() - begun, 3)
        return error

    def test_an_answer_whose_chunks_never_end_takes_no_longer_than_a_try_may(self):
        for name, beginning in self.beginnings.items():
            with self.subTest(name), ScriptedServer(trickling(200, beginning)) as server:
                payments = client(server, timeout=0.4).payments
                self.assertEqual(self.takes_no_longer(lambda: payments.get("pay_1")).code, "timeout")

    def test_a_refusal_of_an_export_takes_no_longer_either(self):
        for name, beginning in self.beginnings.items():
            with self.subTest(name), ScriptedServer(trickling(403, beginning)) as server:
                payments = client(server, timeout=0.4).payments
                self.assertEqual(self.takes_no_longer(lambda: next(payments.export())).code, "timeout")

    def test_an_export_that_only_seems_to_go_on_has_fallen_silent(self):
        for name, beginning in self.beginnings.items():
            silent = mock.patch("payments_api._sync.resources.SILENCE_MAX", 0.4)
            with self.subTest(name), silent, ScriptedServer(trickling(200, beginning)) as server:
                error = self.takes_no_longer(lambda: list(client(server).payments.export()))
                self.assertEqual(str(error), "The export was cut.")


class ManyFiles(Case):
    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 4096, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

    def test_a_connection_is_kept_in_a_process_with_more_than_a_thousand_open_files(self):
        def answer(handler):
            ports.append(handler.client_address[1])
            as_json(200, {})(handler)

        ports = []
        with ScriptedServer(answer) as server, client(server) as payments:
            payments.payments.get("pay_1")
            kept = payments._http._io._idle[0]
            with kept.sock as low:
                kept.sock = socket.socket(fileno=fcntl.fcntl(low.fileno(), fcntl.F_DUPFD_CLOEXEC, 1024))
            payments.payments.get("pay_1")
            self.assertEqual(len(ports), 2)
            self.assertEqual(len(set(ports)), 1)


class KeptConnections(Case, unittest.IsolatedAsyncioTestCase):
    """The server hangs up on a kept connection after it has read the request, and gives no answer."""

    def test_a_delete_whose_answer_was_lost_with_a_kept_connection_has_worked(self):
        answers = (as_json(200, {}), cut, problem(404, "not_found"))
        with ScriptedServer(*answers) as server, client(server) as payments:
            payments.payment_methods.get("pm_1")
            payments.payment_methods.delete("pm_1")
            self.assertEqual([one.method for one in server.seen], ["GET", "DELETE", "DELETE"])
            # The connection of that answer is kept, too, and this one was sent once.
            self.assertIsInstance(self.fails(payments.payment_methods.delete, "pm_1"), NotFoundError)

    def test_it_has_worked_also_where_the_server_is_busy_before_it_says_that_nothing_is_there(self):
        answers = (as_json(200, {}), cut, problem(429, "rate_limited", retry_after="0"), problem(404, "not_found"))
        with ScriptedServer(*answers) as server, client(server, max_retries=1) as payments:
            payments.payment_methods.get("pm_1")
            payments.payment_methods.delete("pm_1")

    async def test_it_has_worked_with_asyncio_too(self):
        answers = (as_json(200, {}), cut, problem(404, "not_found"))
        with ScriptedServer(*answers) as server:
            async with AsyncPayments(KEY, server.url, max_retries=0) as payments:
                await payments.payment_methods.get("pm_1")
                await payments.payment_methods.delete("pm_1")

    def test_another_call_is_not_told_otherwise(self):
        answers = (as_json(200, {}), cut, problem(404, "not_found"))
        with ScriptedServer(*answers) as server, client(server) as payments:
            payments.payment_methods.get("pm_1")
            self.assertIsInstance(self.fails(payments.payment_methods.get, "pm_1"), NotFoundError)
