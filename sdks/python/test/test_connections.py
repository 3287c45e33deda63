"""Connections in the states that a long-lived process and newer versions of Python bring them into."""

import http.client
from unittest import mock

from scripted_server import ScriptedServer, as_json, problem, text
from test_client import Case, client


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
