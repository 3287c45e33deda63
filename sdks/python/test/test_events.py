import json
import threading
import unittest
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

from payments_api import (
    AsyncPayments,
    ConnectionFailedError,
    InvalidRequestError,
    NotFoundError,
    Payments,
    PermissionDeniedError,
)
from payments_api._async.event_stream import EventStreamParser
from scripted_server import ScriptedServer, listing, problem, text
from test_client import KEY


def blocks(*chunks):
    parser = EventStreamParser()
    return [(one.id, one.data) for chunk in chunks for one in parser.feed(chunk)]


class Parser(unittest.TestCase):
    def test_reads_the_format_in_pieces_of_any_size(self):
        raw = 'id: e1\r\ndata: {"a":\r\ndata: "ü"}\r\n\r\n: alive\nid:e2\ndata:x\n\nretry: 5\n\nid: e3\n\n'.encode()
        expected = [("e1", '{"a":\n"ü"}'), (None, None), ("e2", "x"), ("e3", None)]
        self.assertEqual(blocks(raw), expected)
        self.assertEqual(blocks(*(raw[at : at + 1] for at in range(len(raw)))), expected)


def stream(*events):
    def answer(handler):
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        for id in events:
            handler.wfile.write(f"id: {id}\ndata: {json.dumps({'id': id})}\n\n".encode())
        handler.close_connection = True

    return answer


def long(count):
    """Lists ``count`` events, e1 being the oldest, by pages of a hundred; its stream says nothing."""

    def answer(handler):
        path = urlsplit(handler.path)
        if path.path.endswith("/stream"):
            return stream()(handler)
        start = int(parse_qs(path.query).get("cursor", [count])[0])
        rest = str(start - 100) if start > 100 else None
        return listing([f"e{start - at}" for at in range(min(100, start))], rest)(handler)

    return answer


class Stream(unittest.IsolatedAsyncioTestCase):
    answers = (
        listing(["e0"]),
        stream(),
        listing(["e0"]),
        problem(503, "shutting_down"),
        stream("e2"),
        listing(["e2", "e1", "e0"]),
        stream("e2", "e3"),
    )

    def check(self, server, found):
        self.assertEqual(found, ["e1", "e2", "e3"])
        asked = [one.headers.get("last-event-id") for one in server.seen if one.path.endswith("stream")]
        self.assertEqual(asked, [None, None, None, "e2"])

    def test_goes_on_after_the_last_event_and_doubles_none(self):
        with ScriptedServer(*self.answers) as server:
            found = []
            for event in Payments(KEY, server.url).events.stream():
                found.append(event.id)
                if len(found) == 3:
                    break
            self.check(server, found)

    async def test_goes_on_with_asyncio_too(self):
        with ScriptedServer(*self.answers) as server:
            found = []
            async with AsyncPayments(KEY, server.url) as client:
                async for event in client.events.stream():
                    found.append(event.id)
                    if len(found) == 3:
                        break
            self.check(server, found)

    def test_begins_where_it_is_told_and_ends_on_a_refusal(self):
        with ScriptedServer(stream("e8"), problem(403, "insufficient_scope")) as server:
            events = Payments(KEY, server.url).events.stream(last_event_id="e7")
            self.assertEqual(next(events).id, "e8")
            with self.assertRaises(PermissionDeniedError):
                next(events)
            self.assertEqual(server.seen[0].headers["last-event-id"], "e7")

    def test_goes_on_with_the_new_events_after_a_reset(self):
        unknown = problem(404, "last_event_unknown")
        answers = (listing([]), stream("e1"), listing([]), unknown, stream(), listing(["f1"]), stream("f2"))
        with ScriptedServer(*answers) as server:
            events = Payments(KEY, server.url).events.stream()
            self.assertEqual([next(events).id for _ in range(3)], ["e1", "f1", "f2"])

    def test_goes_on_after_an_event_that_has_become_too_old(self):
        unknown = problem(404, "last_event_unknown")
        again = listing(["e2", "e1", "e0", "d9"])
        answers = (listing(["e0"]), stream("e1"), listing(["e1", "e0"]), unknown, stream("e3"), again, stream("e3"))
        with ScriptedServer(*answers) as server:
            events = Payments(KEY, server.url).events.stream()
            self.assertEqual([next(events).id for _ in range(3)], ["e1", "e2", "e3"])

    def test_goes_on_after_the_event_it_was_given_when_nothing_came_for_a_day(self):
        unknown = problem(404, "last_event_unknown")
        with ScriptedServer(stream(), unknown, stream(), listing(["e8", "e7", "e6"])) as server:
            events = Payments(KEY, server.url).events.stream(last_event_id="e7")
            self.assertEqual(next(events).id, "e8")

    def test_ends_where_the_event_it_was_given_was_never_known(self):
        with ScriptedServer(problem(404, "last_event_unknown")) as server:
            with self.assertRaises(NotFoundError):
                next(Payments(KEY, server.url).events.stream(last_event_id="e7"))

    def test_leaves_nothing_out_after_an_event_that_became_too_old_however_much_there_is(self):
        with ScriptedServer(stream(), problem(404, "last_event_unknown"), long(1_250)) as server:
            events = Payments(KEY, server.url).events.stream(last_event_id="e50")
            self.assertEqual([next(events).id for _ in range(1_200)], [f"e{at}" for at in range(51, 1_251)])

    async def test_leaves_nothing_out_of_all_that_is_kept_with_asyncio_too(self):
        with ScriptedServer(stream(), long(1_250)) as server:
            found = []
            async with AsyncPayments(KEY, server.url) as client:
                async for event in client.events.stream(last_event_id=""):
                    found.append(event.id)
                    if len(found) == 1_250:
                        break
            self.assertEqual(found, [f"e{at}" for at in range(1, 1_251)])

    def test_says_that_there_is_more_than_it_takes_instead_of_leaving_something_out(self):
        few_pages = patch("payments_api._sync.event_stream.CATCH_UP_PAGES_MAX", 3)
        with few_pages, ScriptedServer(stream(), problem(404, "last_event_unknown"), long(1_250)) as server:
            with self.assertRaisesRegex(InvalidRequestError, "More than 300 events came after e1") as caught:
                next(Payments(KEY, server.url).events.stream(last_event_id="e1"))
            self.assertEqual(caught.exception.code, "last_event_unknown")
            self.assertFalse(caught.exception.retryable)

    def test_threads_end_with_the_reader(self):
        with ScriptedServer(*self.answers) as server:
            before = threading.active_count()
            events = Payments(KEY, server.url).events.stream()
            next(events)
            events.close()
            self.assertLessEqual(threading.active_count(), before + 2)

    def test_what_a_hook_raises_ends_the_stream_and_its_connection_and_is_no_cut_line(self):
        left = threading.Event()

        def stays_open(handler):
            handler.send_response(200)
            handler.send_header("content-type", "text/event-stream")
            handler.end_headers()
            handler.connection.settimeout(5)
            if handler.rfile.read(1) == b"":
                left.set()
            handler.close_connection = True

        def fail(_info):
            raise ConnectionResetError("the log of the caller")

        for hook in ("on_request", "on_response"):
            with self.subTest(hook), ScriptedServer(stays_open) as server:
                with self.assertRaisesRegex(ConnectionResetError, "of the caller"):
                    next(Payments(KEY, server.url, **{hook: fail}).events.stream(last_event_id="e1"))
                self.assertLessEqual(len(server.seen), 1)
        self.assertTrue(left.wait(3))

    def test_what_is_no_event_ends_the_stream(self):
        for data in ("nonsense", "null", "[]", '"text"', "{}"):

            def answer(handler):
                text(200, f"data: {data}\n\n", "text/event-stream")(handler)

            with self.subTest(data), ScriptedServer(answer) as server:
                with self.assertRaises(ConnectionFailedError) as raised:
                    next(Payments(KEY, server.url).events.stream(last_event_id="e1"))
                self.assertEqual((raised.exception.code, len(server.seen)), ("invalid_response", 1))

    def test_comes_back_no_sooner_than_the_server_asks(self):
        delays = []

        def note(_error, delay):
            delays.append(delay)
            raise InterruptedError

        with ScriptedServer(problem(503, "not_ready", retry_after="7")) as server:
            with self.assertRaises(InterruptedError):
                next(Payments(KEY, server.url).events.stream(last_event_id="e0", on_reconnect=note))
        self.assertGreaterEqual(delays[0], 7)
