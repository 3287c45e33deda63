import os
import socket
import threading
import time
import unittest
from datetime import datetime, timezone
from unittest import mock

import payments_api
from payments_api import (
    AuthenticationError,
    ConflictError,
    ConnectionFailedError,
    InvalidRequestError,
    NotFoundError,
    Payments,
    PaymentsError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    UnexpectedStatusError,
    WaitTimeoutError,
)
from scripted_server import ScriptedServer, as_json, cut, listing, problem, text

KEY = "sk_test_the_secret_of_this_test"
BODY = {
    "amount": 100,
    "currency": "USD",
    "source": {"payment_method_id": "pm_a"},
    "destination": {"payment_method_id": "pm_b"},
}


def client(server, **options):
    return Payments(KEY, server if isinstance(server, str) else server.url, **{"max_retries": 0, **options})


def closed_address():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


class Case(unittest.TestCase):
    def fails(self, call, *args, **options):
        with self.assertRaises(PaymentsError) as raised:
            call(*args, **options)
        return raised.exception


class Settings(Case):
    def test_fall_back_to_the_environment(self):
        with ScriptedServer(as_json(200, {"id": "pay_1"})) as server:
            environment = {"PAYMENTS_API_KEY": "sk_test_env", "PAYMENTS_API_URL": f"{server.url}/"}
            with mock.patch.dict(os.environ, environment):
                Payments().payments.get("pay_1")
            self.assertEqual(server.seen[0].path, "/v1/payments/pay_1")
            self.assertEqual(server.seen[0].headers["authorization"], "Bearer sk_test_env")

    def test_wrong_ones_stop_the_construction_with_one_line(self):
        cases = [
            ({"api_key": ""}, "No API key"),
            ({"api_key": "sk_test_ x"}, "characters that no key has"),
            ({"base_url": "payments"}, "base_url is not a URL"),
            ({"base_url": "ftp://x"}, "https"),
            ({"base_url": "https://user:pw@x"}, "must not contain"),
            ({"base_url": "https://x?y"}, "must not contain"),
            ({"timeout": 0}, "timeout must be"),
            ({"max_retries": -1}, "max_retries must be"),
            ({"proxy": "nowhere"}, "proxy is not the URL"),
            ({"base_url": "https://x", "ca": "no certificate"}, "PEM"),
        ]
        for options, message in cases:
            with self.subTest(options), mock.patch.dict(os.environ, {"PAYMENTS_API_KEY": ""}):
                with self.assertRaisesRegex(ValueError, message):
                    Payments(**{"api_key": KEY, **options})

    def test_with_options_changes_some_and_keeps_the_rest(self):
        with ScriptedServer(as_json(200, {})) as server:
            client(server, headers={"X-Team": "a"}).with_options(api_key="sk_test_other").payments.get("pay_1")
            self.assertEqual(server.seen[0].headers["authorization"], "Bearer sk_test_other")
            self.assertEqual(server.seen[0].headers["x-team"], "a")

    def test_no_way_of_printing_shows_a_secret(self):
        answers = (problem(401, "unauthorized"), as_json(201, {"id": "we_1", "secret": "whsec_c2VjcmV0"}))
        with ScriptedServer(*answers) as server:
            payments = client(server, proxy=None)
            error = self.fails(payments.payments.get, "pay_1")
            endpoint = payments.webhook_endpoints.create(url="https://example.com")
        self.assertEqual(endpoint.secret, "whsec_c2VjcmV0")
        settings = payments._http._settings
        for thing in (payments, payments.payments, payments.payments.list(), settings, error, endpoint):
            shown = f"{thing!r} {thing}"
            self.assertNotIn(KEY, shown)
            self.assertNotIn("c2VjcmV0", shown)

    def test_the_version_is_the_one_of_the_package(self):
        with open(os.path.join(os.path.dirname(__file__), "..", "pyproject.toml"), encoding="utf-8") as file:
            self.assertIn(f'version = "{payments_api.__version__}"', file.read())


class Requests(Case):
    def test_carry_the_key_the_version_and_an_idempotency_key(self):
        with ScriptedServer(as_json(202, {"id": "pay_1"})) as server:
            payments = client(server)
            payments.payments.create(**BODY)
            payments.payments.create(**BODY)
            payments.payments.create(**BODY, idempotency_key="order-17")
            payments.payments.get("pay_1")
            keys = [one.headers.get("idempotency-key") for one in server.seen]
            self.assertRegex(keys[0], "^[0-9a-f-]{36}$")
            self.assertNotEqual(keys[0], keys[1])
            self.assertEqual(keys[2:], ["order-17", None])
            headers = server.seen[0].headers
            self.assertEqual(headers["authorization"], f"Bearer {KEY}")
            self.assertEqual(headers["api-version"], "2026-11-15")
            self.assertEqual(headers["content-type"], "application/json")
            self.assertRegex(headers["user-agent"], r"^payments-api-python/\d")

    def test_write_queries_as_the_api_reads_them(self):
        with ScriptedServer(listing([])) as server:
            after = datetime(2026, 11, 15, tzinfo=timezone.utc)
            filters = {"status": "failed", "created_after": after, "metadata": {"a&b": "ü"}, "limit": 5}
            client(server).payments.list(**filters).page()
            self.assertEqual(
                server.seen[0].path,
                "/v1/payments?status=failed&created_after=2026-11-15T00%3A00%3A00.000Z&metadata%5Ba%26b%5D=%C3%BC&limit=5",
            )

    def test_an_id_never_reaches_another_address(self):
        with ScriptedServer(as_json(200, {})) as server:
            for id in ("", " ", ".", "..", None):
                with self.assertRaises(ValueError):
                    client(server).payments.get(id)
            client(server).payments.get("../ledger/check?x=1")
            self.assertEqual([one.path for one in server.seen], ["/v1/payments/..%2Fledger%2Fcheck%3Fx%3D1"])

    def test_hooks_see_every_try_may_add_headers_and_never_see_the_key(self):
        with ScriptedServer(problem(429, "rate_limited", retry_after="0"), as_json(202, {"id": "p"})) as server:
            told = []

            def on_request(request):
                request.headers["traceparent"] = f"00-{request.attempt}"
                told.append(request)

            client(server, max_retries=1, on_request=on_request, on_response=told.append).payments.create(**BODY)
            self.assertEqual([one.headers["traceparent"] for one in server.seen], ["00-1", "00-2"])
            self.assertEqual([one.attempt for one in told], [1, 1, 2, 2])
            self.assertEqual((told[1].status, told[1].request_id, told[3].status), (429, "req_1", 202))
            self.assertIsNotNone(told[1].retry_in)
            self.assertNotIn(KEY, repr(told))

    def test_connections_are_kept_and_one_that_the_server_gave_up_is_replaced(self):
        with ScriptedServer(as_json(200, {})) as server:
            ports = set()
            original = server.answers[0]
            server.answers = (lambda handler: (ports.add(handler.client_address[1]), original(handler)),)
            payments = client(server)
            for _ in range(3):
                payments.payments.get("pay_1")
            self.assertEqual(len(ports), 1)

            def leave(handler):
                handler.close_connection = True
                original(handler)

            server.answers = (leave,)
            for _ in range(3):
                payments.payments.get("pay_1")

    def test_one_client_serves_many_threads(self):
        with ScriptedServer(as_json(200, {"id": "pay_1"})) as server:
            payments = client(server)
            failures = []

            def work():
                try:
                    for _ in range(5):
                        payments.payments.get("pay_1")
                except Exception as error:
                    failures.append(error)

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((failures, len(server.seen)), ([], 40))


class Errors(Case):
    def test_have_a_class_by_status(self):
        cases = [
            (400, "invalid_query", InvalidRequestError),
            (401, "unauthorized", AuthenticationError),
            (403, "wrong_mode", PermissionDeniedError),
            (404, "not_found", NotFoundError),
            (409, "payment_not_cancelable", ConflictError),
            (413, "body_too_large", InvalidRequestError),
            (422, "invalid_request", InvalidRequestError),
            (429, "rate_limited", RateLimitError),
            (500, "internal", ServerError),
            (503, "rail_not_configured", ServerError),
        ]
        fields = [{"pointer": "/amount", "code": "minimum", "detail": "Must be at least 1."}]
        for status, code, kind in cases:
            with self.subTest(code), ScriptedServer(problem(status, code, {"errors": fields, "extra": 1})) as server:
                error = self.fails(client(server).payments.create, **BODY)
                self.assertIs(type(error), kind)
                self.assertEqual((error.status, error.code, error.request_id), (status, code, "req_1"))
                self.assertEqual(error.retryable, status in (429, 500))
                self.assertEqual(error.errors, fields)
                self.assertEqual((error.errors[0].pointer, error.errors[0].parameter), ("/amount", None))
                self.assertEqual(error.problem["extra"], 1)
                self.assertEqual(str(error), f"Refused: {code}. /amount: Must be at least 1.")

    def test_a_page_a_redirect_and_nothing_at_all_are_one_clear_line_each(self):
        answers = (text(200, "<html>"), text(302, "", location="https://elsewhere.example"), text(502, "<h1>"))
        with ScriptedServer(*answers) as server:
            errors = [self.fails(client(server).payments.get, "pay_1") for _ in range(3)]
            self.assertEqual(
                [str(error) for error in errors],
                [
                    f"{server.url} answered 200 with a body that is not JSON (text/html): is the address right?",
                    f"{server.url} answered 302, a redirect, which is not followed: is the address right?",
                    f"{server.url} answered 502.",
                ],
            )
            self.assertEqual(
                [(error.code, error.retryable) for error in errors],
                [("invalid_response", False), ("http_302", False), ("http_502", True)],
            )
        nowhere = closed_address()
        error = self.fails(client(nowhere).payments.get, "pay_1")
        self.assertIsInstance(error, ConnectionFailedError)
        self.assertEqual(str(error), f"Could not get an answer from {nowhere}: Connection refused.")
        self.assertIsNone(error.__cause__)

    def test_a_slow_answer_ends_with_its_time_also_when_it_only_drips(self):
        def never(_handler):
            time.sleep(2)

        def drip(handler):
            handler.send_response(200)
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", "1000")
            handler.end_headers()
            for _ in range(40):
                try:
                    handler.wfile.write(b" ")
                except OSError:
                    return
                time.sleep(0.05)

        for answer in (never, drip):
            with ScriptedServer(answer) as server:
                started = time.monotonic()
                error = self.fails(client(server, timeout=0.3).payments.get, "pay_1")
                self.assertLess(time.monotonic() - started, 1.5)
                self.assertEqual((type(error), error.code, error.retryable), (ConnectionFailedError, "timeout", True))


class Retries(Case):
    def test_send_the_same_bytes_with_the_same_key(self):
        busy = problem(409, "idempotency_key_in_use", retry_after="0")
        with ScriptedServer(problem(503, "shutting_down"), busy, as_json(202, {"id": "pay_1"})) as server:
            self.assertEqual(client(server, max_retries=2).payments.create(**BODY), {"id": "pay_1"})
            self.assertEqual(len(server.seen), 3)
            self.assertEqual(len({(one.headers["idempotency-key"], one.body) for one in server.seen}), 1)

    def test_what_is_final_is_not_sent_again(self):
        finals = [(400, "x"), (401, "x"), (409, "payment_not_cancelable"), (422, "x"), (503, "rail_not_configured")]
        for status, code in finals:
            with self.subTest(status), ScriptedServer(problem(status, code)) as server:
                self.fails(client(server, max_retries=3).payments.create, **BODY)
                self.assertEqual(len(server.seen), 1)

    def test_end_after_as_many_as_were_asked_for_and_where_too_much_patience_is_asked_for(self):
        with ScriptedServer(problem(503, "overloaded", retry_after="0")) as server:
            self.fails(client(server, max_retries=1).payments.create, **BODY)
            self.assertEqual(len(server.seen), 2)
        with ScriptedServer(problem(503, "overloaded", retry_after="3600")) as server:
            self.fails(client(server, max_retries=3).payments.create, **BODY)
            self.assertEqual(len(server.seen), 1)

    def test_wait_as_long_as_retry_after_says(self):
        with ScriptedServer(problem(429, "rate_limited", retry_after="1"), as_json(200, {})) as server:
            started = time.monotonic()
            client(server, max_retries=1).payments.get("pay_1")
            self.assertGreaterEqual(time.monotonic() - started, 0.99)

    def test_a_delete_whose_answer_was_lost_is_not_told_that_there_is_nothing_to_delete(self):
        with ScriptedServer(cut, problem(404, "not_found")) as server:
            client(server, max_retries=1).payment_methods.delete("pm_1")
        with ScriptedServer(problem(429, "rate_limited", retry_after="0"), problem(404, "not_found")) as server:
            error = self.fails(client(server, max_retries=1).payment_methods.delete, "pm_1")
            self.assertIsInstance(error, NotFoundError)


class Lists(Case):
    def test_are_read_to_the_end_one_page_at_a_time(self):
        with ScriptedServer(listing(["a", "b"], "c1"), listing([], "c2"), listing(["c"])) as server:
            found = client(server).payments.list(limit=2)
            self.assertEqual(len(server.seen), 0)
            self.assertEqual([one.id for one in found], ["a", "b", "c"])
            queries = [one.path.split("?")[1] for one in server.seen]
            self.assertEqual(queries, ["limit=2", "limit=2&cursor=c1", "limit=2&cursor=c2"])

    def test_give_one_page_and_stop_where_the_reader_stops(self):
        with ScriptedServer(listing(["a", "b"], "c1")) as server:
            found = client(server).payments.list()
            page = found.page()
            self.assertEqual((page.next_cursor, [one.id for one in page.data]), ("c1", ["a", "b"]))
            self.assertEqual(len(found.to_list(limit=2)), 2)
            self.assertEqual(len(server.seen), 2)

    def test_a_server_that_repeats_its_cursor_does_not_keep_us_for_ever(self):
        with ScriptedServer(listing(["a"], "same")) as server:
            self.assertEqual(len(list(client(server).payments.list())), 2)


def payment(*statuses):
    failure = {"code": "account_closed", "detail": "Closed."} if "failed" in statuses else None
    timeline = [{"status": status, "timestamp": "t"} for status in statuses]
    return as_json(200, {"id": "pay_1", "status": statuses[-1], "timeline": timeline, "failure": failure})


class Waiting(Case):
    def test_goes_on_over_a_restart_and_ends_at_once_when_it_is_pointless(self):
        answers = (payment("pending"), problem(503, "shutting_down"), cut, payment("pending", "processing", "failed"))
        with ScriptedServer(*answers) as server:
            with self.assertRaises(UnexpectedStatusError) as raised:
                client(server).payments.wait_for("pay_1", "completed")
            message = "Payment pay_1 is failed (account_closed: Closed.) and will not become completed."
            self.assertEqual(str(raised.exception), message)
            self.assertEqual(raised.exception.payment.status, "failed")

    def test_says_when_time_is_over(self):
        with ScriptedServer(payment("pending")) as server:
            with self.assertRaises(WaitTimeoutError) as raised:
                client(server).payments.wait_for("pay_1", ["completed", "failed"], timeout=0.3)
            self.assertEqual(str(raised.exception), "Payment pay_1 is pending after 0.3 s.")
            self.assertEqual(client(server).payments.wait_for("pay_1", "pending", timeout=3600).id, "pay_1")

    def test_what_was_passed_counts_unless_it_ended_badly(self):
        with ScriptedServer(payment("pending", "processing", "completed")) as server:
            self.assertEqual(client(server).payments.wait_for("pay_1", "processing").status, "completed")
        with ScriptedServer(payment("pending", "processing", "completed", "returned")) as server:
            with self.assertRaises(UnexpectedStatusError):
                client(server).payments.wait_for("pay_1", "completed")

    def test_the_last_look_counts_and_no_time_at_all_is_one_look(self):
        def late(handler):
            time.sleep(0.05)
            payment("pending", "processing", "completed")(handler)

        with ScriptedServer(payment("pending"), late) as server:
            payments = client(server).payments
            self.assertEqual(payments.wait_for("pay_1", "completed", timeout=0.1).status, "completed")
            self.assertEqual(payments.wait_for("pay_1", "completed", timeout=0).status, "completed")
            self.assertEqual(payments.wait_for("pay_1", "completed", timeout=-1).status, "completed")

    def test_a_look_takes_no_longer_than_any_try_so_that_a_lost_answer_costs_no_more(self):
        over = threading.Event()
        with ScriptedServer(lambda _handler: over.wait(20), payment("pending", "processing", "completed")) as server:
            payments = client(server, timeout=0.2).payments
            try:
                self.assertEqual(payments.wait_for("pay_1", "completed", timeout=5).status, "completed")
            finally:
                over.set()
            self.assertEqual(len(server.seen), 2)

    def test_a_time_to_wait_that_is_no_number_is_a_mistake_in_the_call(self):
        # A time that never comes: the third look would see it completed.
        answers = (payment("pending"), payment("pending"), payment("pending", "processing", "completed"))
        with ScriptedServer(*answers) as server:
            for timeout in ("5", float("nan"), None):
                with self.subTest(timeout), self.assertRaisesRegex(ValueError, "timeout must be a number"):
                    client(server).payments.wait_for("pay_1", "completed", timeout=timeout)
            self.assertEqual(server.seen, [])

    def test_waits_between_two_looks_as_long_as_the_server_asks(self):
        done = payment("pending", "processing", "completed")
        with ScriptedServer(problem(429, "rate_limited", retry_after="1"), done) as server:
            started = time.monotonic()
            client(server).payments.wait_for("pay_1", "completed")
            self.assertGreaterEqual(time.monotonic() - started, 0.99)
