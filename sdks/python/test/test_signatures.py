import base64
import json
import time
import unittest
from datetime import datetime
from pathlib import Path

from payments_api import SignatureInvalidError, webhooks

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "webhook-signatures.json"
SECRET = "whsec_" + base64.b64encode(b"\x05" * 32).decode()


def verdict(*args, **options):
    try:
        webhooks.verify(*args, **options)
        return "ok"
    except SignatureInvalidError as error:
        return error.reason


class SharedVectors(unittest.TestCase):
    """One test per vector is added below."""


def _add(number, vector):
    def test(self):
        body = base64.b64decode(vector["body_base64"])
        now = datetime.fromisoformat(vector["now"].replace("Z", "+00:00")).timestamp()
        pairs = [(name.encode(), value.encode()) for name, value in vector["headers"].items()]
        for headers in (vector["headers"], list(vector["headers"].items()), pairs):
            self.assertEqual(verdict(body, headers, vector["secrets"], now=now), vector["expected"])
        if vector["expected"] == "ok":
            event = webhooks.verify(body.decode("utf-8"), vector["headers"], vector["secrets"], now=now)
            self.assertEqual(event, json.loads(body))

    test.__doc__ = f"{vector['name']}: {vector['expected']}"
    setattr(SharedVectors, f"test_{number:02}", test)


for _number, _vector in enumerate(json.loads(VECTORS.read_text("utf-8"))):
    _add(_number, _vector)


class Verify(unittest.TestCase):
    def test_accepts_what_sign_signs_and_gives_fields_as_attributes(self):
        body = json.dumps({"id": "evt_9", "type": "payment.completed", "data": {"id": "pay_1"}})
        headers = webhooks.sign(body, SECRET)
        self.assertEqual(headers["webhook-id"], "evt_9")
        event = webhooks.verify(body.encode(), headers, SECRET)
        self.assertEqual((event.type, event["data"]["id"], event.data.id), ("payment.completed", "pay_1", "pay_1"))

    def test_says_what_to_do_with_an_object_no_headers_or_no_secret(self):
        headers = webhooks.sign("{}", SECRET)
        self.assertEqual(verdict({"id": "evt_1"}, headers, SECRET), "bad_body")
        self.assertEqual(verdict("{}", None, SECRET), "missing_header")
        self.assertEqual(verdict("{}", headers, None), "bad_secret")

    def test_names_a_clock_that_is_off_with_how_much(self):
        headers = webhooks.sign("{}", SECRET, now=time.time() - 412)
        with self.assertRaisesRegex(SignatureInvalidError, "41[23] s before this machine's time.*clock"):
            webhooks.verify("{}", headers, SECRET)
        self.assertEqual(verdict("{}", headers, SECRET, tolerance_seconds=500), "ok")

    def test_no_message_contains_the_secret(self):
        for secret in ("whsec_typo-in-the-secret", SECRET):
            with self.assertRaises(SignatureInvalidError) as raised:
                webhooks.verify("{}", {**webhooks.sign("{} ", SECRET), "webhook-id": "x"}, secret)
            self.assertNotRegex(f"{raised.exception} {raised.exception!r}", "typo-in|BQUFBQ")
