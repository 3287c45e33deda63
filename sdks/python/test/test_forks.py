import asyncio
import os
import signal
import unittest

from payments_api import AsyncPayments
from scripted_server import ScriptedServer, as_json
from test_client import KEY, client


def echo(handler):
    as_json(200, {"id": handler.path.rsplit("/", 1)[1]})(handler)


class Forks(unittest.TestCase):
    def test_a_forked_process_reads_its_own_answers(self):
        with ScriptedServer(echo) as server:
            payments = client(server).payments
            payments.get("before")
            kept = payments._http._io._idle[0].sock.getsockname()
            child = os.fork()
            if child == 0:
                fresh = payments.get("child").id == "child"
                used = payments._http._io._idle[-1].sock.getsockname()
                os._exit(0 if fresh and used != kept else 1)
            _, status = os.waitpid(child, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0)
            self.assertEqual(payments.get("parent").id, "parent")
            self.assertEqual(payments._http._io._idle[-1].sock.getsockname(), kept)

    def test_a_forked_process_has_threads_of_its_own(self):
        with ScriptedServer(echo) as server:
            payments = AsyncPayments(KEY, server.url, max_retries=0).payments
            asyncio.run(payments.get("before"))
            child = os.fork()
            if child == 0:
                signal.alarm(10)
                os._exit(0 if asyncio.run(payments.get("child")).id == "child" else 1)
            _, status = os.waitpid(child, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0)
