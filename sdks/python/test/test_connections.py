"""Connections in the states that a long-lived process and newer versions of Python bring them into."""

import fcntl
import http.client
import resource
import socket
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
