import copy
import pickle
import socket
import threading
import traceback
import unittest

from payments_api import (
    AuthenticationError,
    ConflictError,
    ConnectionFailedError,
    Payments,
    ServerError,
    SignatureInvalidError,
    UnexpectedStatusError,
    webhooks,
)
from scripted_server import ScriptedServer, as_json, problem, text
from test_client import BODY, KEY, Case, client, payment

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class StrangeAnswers(Case):
    def test_what_is_no_list_is_an_answer_of_another_server(self):
        for answer in (None, [], "text", {}, {"data": None}):
            with self.subTest(answer), ScriptedServer(as_json(200, answer)) as server:
                error = self.fails(lambda: list(client(server).payments.list()))
                self.assertEqual((type(error), error.code), (ConnectionFailedError, "invalid_response"))

    def test_an_answer_without_an_object_is_no_payment_and_no_endpoint(self):
        empty = [(text(status, ""), True) for status in (200, 202, 204)]
        for answer, retryable in [*empty, *((as_json(202, one), False) for one in (None, [], "text"))]:
            with self.subTest(answer), ScriptedServer(answer) as server:
                payments, endpoints = client(server).payments, client(server).webhook_endpoints
                for call in (
                    lambda: payments.create(**BODY),
                    lambda: payments.get("pay_1"),
                    lambda: payments.wait_for("pay_1", "completed", timeout=0),
                    lambda: endpoints.create(url="https://example.com"),
                    lambda: endpoints.update("we_1", description="x"),
                ):
                    error = self.fails(call)
                    answered = error.__cause__ if error.code == "wait_timeout" else error
                    self.assertEqual((type(answered), answered.code), (ConnectionFailedError, "invalid_response"))
                    self.assertEqual(answered.retryable, retryable)

    def test_an_answer_without_a_body_is_asked_for_again_with_the_same_key_and_one_to_a_deletion_is_its_end(self):
        answers = (text(202, ""), as_json(202, {"id": "pay_1"}), text(200, ""), text(204, ""))
        with ScriptedServer(*answers) as server:
            self.assertEqual(client(server, max_retries=1).payments.create(**BODY), {"id": "pay_1"})
            keys = [one.headers["idempotency-key"] for one in server.seen]
            self.assertEqual((len(keys), len(set(keys))), (2, 1))
            self.assertIsNone(client(server).payment_methods.delete("pm_1"))
            self.assertIsNone(client(server).sandbox.free_clock())

    def test_json_that_is_too_deep_is_no_answer(self):
        deep = "[" * 200_000
        with ScriptedServer(text(200, deep, "application/json"), text(502, deep, "application/json")) as server:
            self.assertEqual(self.fails(client(server).payments.get, "pay_1").code, "invalid_response")
            self.assertIsInstance(self.fails(client(server).payments.get, "pay_1"), ServerError)

    def test_the_content_type_is_read_in_any_letter_case(self):
        with ScriptedServer(text(422, '{"code":"x"}', "Application/Problem+JSON")) as server:
            self.assertEqual(self.fails(client(server).payments.get, "pay_1").code, "x")

    def test_an_error_says_how_long_the_server_asked_to_wait(self):
        with ScriptedServer(problem(429, "rate_limited", retry_after="90"), problem(404, "not_found")) as server:
            self.assertEqual(self.fails(client(server).payments.get, "pay_1").retry_after, 90)
            self.assertIsNone(self.fails(client(server).payments.get, "pay_1").retry_after)

    def test_an_export_that_is_cut_ends_with_an_error(self):
        def half(handler):
            handler.send_response(200)
            handler.send_header("content-type", "text/csv")
            handler.send_header("content-length", "100")
            handler.end_headers()
            handler.wfile.write(b"id\n")
            handler.close_connection = True

        with ScriptedServer(half) as server:
            error = self.fails(lambda: list(client(server).payments.export()))
            self.assertEqual(str(error), "The export was cut.")


class OptionalFields(Case):
    def test_a_field_that_an_answer_may_leave_out_reads_as_none_and_another_is_missing(self):
        delivery = {"id": "del_1", "attempts": [{"status": 204}, {"status": 500, "response": "no"}]}
        with ScriptedServer(as_json(202, delivery)) as server:
            answer = client(server).webhook_deliveries.retry("del_1")
        for again in (answer, copy.deepcopy(answer), pickle.loads(pickle.dumps(answer))):
            self.assertEqual(again, delivery)
            self.assertEqual([one.response for one in again.attempts], [None, "no"])
            self.assertEqual([one.get("response") for one in again["attempts"]], [None, "no"])
            with self.assertRaisesRegex(AttributeError, "DeliveryAttempt has no field 'respons'"):
                again.attempts[0].respons

    def test_what_is_no_list_of_objects_stays_as_it_came(self):
        for attempts in (None, "none", [None, "one"]):
            with self.subTest(attempts), ScriptedServer(as_json(202, {"attempts": attempts})) as server:
                self.assertEqual(client(server).webhook_deliveries.retry("del_1").attempts, attempts)


class RefusingServer:
    """Answers 413 once it has the headers, and hangs up without reading the body."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.asked = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # The test is over.
            self.asked += 1
            connection.recv(1024)
            connection.sendall(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            connection.close()


class Calls(Case):
    def test_a_body_that_is_refused_before_it_was_read_is_refused_and_not_sent_again(self):
        server = RefusingServer()
        body = {**BODY, "description": "x" * 16_000_000}
        error = self.fails(client(server.url, max_retries=3).payments.create, **body)
        server.listener.close()
        self.assertEqual((error.status, server.asked), (413, 1))

    def test_a_header_that_cannot_be_sent_is_a_mistake_in_the_call(self):
        with ScriptedServer(as_json(200, {})) as server:
            for headers in ({"x-name": "日本"}, {"x-name": "a\r\nb: c"}, {"x name": "a"}):
                with self.assertRaisesRegex(ValueError, "cannot be sent"):
                    client(server, headers=headers, max_retries=3).payments.get("pay_1")
            self.assertEqual(server.seen, [])

    def test_an_idempotency_key_that_is_given_as_a_header_is_the_key(self):
        with ScriptedServer(as_json(202, {})) as server:
            payments = client(server, headers={"Idempotency-Key": "order-17"}).payments
            payments.create(**BODY)
            payments.create(**BODY, idempotency_key="order-18")
            keys = [one.headers["idempotency-key"] for one in server.seen]
            self.assertEqual(keys, ["order-17", "order-18"])

    def test_none_is_what_was_not_given_and_what_is_no_number_is_not_sent(self):
        with ScriptedServer(as_json(202, {})) as server:
            client(server).payments.create(**BODY, description=None, metadata=None)
            self.assertEqual(set(server.seen[0].body_json()), set(BODY))
            with self.assertRaises(ValueError):
                client(server).payments.create(**{**BODY, "amount": float("nan")})

    def test_an_address_may_have_any_path_and_an_empty_one_is_a_mistake(self):
        with ScriptedServer(as_json(200, {})) as server:
            client(f"{server.url}/päy ments/%C3%BC/").payments.get("pay_1")
            self.assertEqual(server.seen[0].path, "/p%C3%A4y%20ments/%C3%BC/v1/payments/pay_1")
        with self.assertRaisesRegex(ValueError, "base_url is not a URL"):
            Payments(KEY, "")


class Errors(Case):
    def test_cross_to_another_process(self):
        errors = [{"pointer": "/a", "code": "b", "detail": "c"}]
        answers = (problem(409, "conflict", {"errors": errors}), payment("pending", "canceled"))
        with ScriptedServer(*answers) as server:
            refused = self.fails(client(server).payments.get, "pay_1")
            unexpected = self.fails(client(server).payments.wait_for, "pay_1", "completed")
        for again in (pickle.loads(pickle.dumps(refused)), copy.deepcopy(refused)):
            self.assertIsInstance(again, ConflictError)
            self.assertEqual((str(again), again.__dict__), (str(refused), refused.__dict__))
            self.assertEqual(again.errors[0].pointer, "/a")
        again = pickle.loads(pickle.dumps(unexpected))
        self.assertIsInstance(again, UnexpectedStatusError)
        self.assertEqual(again.payment.status, "canceled")

    def test_no_local_variable_of_a_traceback_prints_the_key(self):
        with ScriptedServer(problem(401, "unauthorized")) as server:
            shown = []
            try:
                client(server).payments.create(**BODY)
            except AuthenticationError as error:
                for frame, _ in traceback.walk_tb(error.__traceback__):
                    if "payments_api" in frame.f_code.co_filename:
                        shown += [repr(value) for value in frame.f_locals.values()]
        self.assertGreater(len(shown), 3)
        self.assertNotIn(KEY, " ".join(shown))

    def test_printing_metadata_shows_keys_of_every_kind(self):
        with ScriptedServer(as_json(200, {"metadata": {"order": "1", "order-id": "17"}})) as server:
            shown = repr(client(server).payments.get("pay_1"))
        self.assertEqual(shown, "Payment(metadata=ApiObject(order='1', **{'order-id': '17'}))")


class Webhooks(unittest.TestCase):
    def refusal(self, body, headers):
        with self.assertRaises(SignatureInvalidError) as raised:
            webhooks.verify(body, headers, SECRET)
        return raised.exception.reason

    def test_a_header_that_is_none_is_missing(self):
        headers = {**webhooks.sign("{}", SECRET), "webhook-id": None}
        self.assertEqual(self.refusal("{}", headers), "missing_header")

    def test_a_body_that_is_no_text_or_too_deep_is_refused(self):
        deep = "[" * 200_000
        self.assertEqual(self.refusal(deep, webhooks.sign(deep, SECRET)), "bad_body")
        self.assertEqual(self.refusal("\ud800", webhooks.sign("{}", SECRET)), "bad_body")

    def test_headers_that_are_no_text_are_refused(self):
        # As frameworks decode what is no UTF-8 (surrogateescape).
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
            headers = webhooks.sign("{}", SECRET)
            reason = "bad_timestamp" if name == "webhook-timestamp" else "no_match"
            strange = {**headers, name: headers[name] + "\udcff", "x-\udcff": "\udcff"}
            self.assertEqual(self.refusal("{}", strange), reason)
        with self.assertRaises(SignatureInvalidError):
            webhooks.sign("{}", SECRET, id="evt_\udcff")

    def test_signatures_that_come_in_several_lines_are_read_however_a_server_joins_them(self):
        headers = webhooks.sign("{}", SECRET)
        right = headers.pop("webhook-signature")
        wrong = webhooks.sign("{}", "whsec_" + "AAAA" * 8)["webhook-signature"]
        for pair in ([wrong, right], [right, wrong]):
            lines = [("Webhook-Signature", line) for line in pair]
            self.assertEqual(webhooks.verify("{}", [*headers.items(), *lines], SECRET), {})
            for value in (pair, " ".join(pair), ", ".join(pair), ",".join(pair)):
                self.assertEqual(webhooks.verify("{}", {**headers, "webhook-signature": value}, SECRET), {})
