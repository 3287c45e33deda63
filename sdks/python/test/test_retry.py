import math
import random
import unittest

from payments_api._retry import asked, backoff, delay_before_retry, is_retryable, parse_retry_after


class Retry(unittest.TestCase):
    def test_waits_grow_to_a_bound_and_any_part_of_them_may_be_taken(self):
        for failures in range(40):
            for _ in range(20):
                delay = backoff(failures, random.random)
                self.assertGreaterEqual(delay, 0)
                self.assertLess(delay, min(8, 0.5 * 2**failures))

    def test_retry_after_is_a_least_and_beyond_a_minute_nobody_waits(self):
        self.assertGreaterEqual(delay_before_retry(0, 3.0, random.random), 3.0)
        for header in ("61", "9999999999", "9" * 400):
            asked_for = parse_retry_after(header, 0.0)
            self.assertIsNone(delay_before_retry(0, asked_for, random.random))

    def test_those_who_look_again_and_again_wait_for_a_minute_at_most(self):
        self.assertEqual([asked(one) for one in (None, 7, 1e9)], [0, 7, 60])

    def test_retry_after_is_seconds_or_a_date(self):
        now = 1794744000.0  # 2026-11-15T12:00:00Z
        cases = [
            ("3", 3.0),
            ("0.5", 0.5),
            (" 7 ", 7.0),
            ("9999999999", 9999999999.0),
            ("9" * 400, math.inf),
            ("Sun, 15 Nov 2026 12:00:10 GMT", 10.0),
            ("Sun, 15 Nov 2026 11:00:00 GMT", 0.0),
            ("Sunday, 15-Nov-26 12:00:10 GMT", 10.0),
            ("Sun Nov 15 12:00:10 2026", 10.0),
            ("soon", None),
            ("-5", None),
            ("later than 5", None),
            ("Sun, 15 Nov 99999999999999999999 12:00:10 GMT", None),
            ("", None),
            (None, None),
        ]
        for header, expected in cases:
            self.assertEqual(parse_retry_after(header, now), expected, header)

    def test_what_may_succeed_later_is_sent_again_and_nothing_else(self):
        for status in (408, 429, 500, 502, 503, 504):
            self.assertTrue(is_retryable(status, "x", None))
        for status in (302, 400, 401, 403, 404, 405, 409, 413, 415, 422):
            self.assertFalse(is_retryable(status, "x", None))
        self.assertTrue(is_retryable(409, "idempotency_key_in_use", None))
        self.assertFalse(is_retryable(503, "rail_not_configured", None))
