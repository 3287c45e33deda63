import asyncio
import time
import unittest
from unittest import mock

from payments_api import AsyncPayments, ConnectionFailedError, NotFoundError
from scripted_server import ScriptedServer, as_json, listing, problem
from test_client import BODY, KEY


class AsyncClient(unittest.IsolatedAsyncioTestCase):
    async def test_has_the_same_names_and_is_awaited(self):
        with ScriptedServer(as_json(202, {"id": "pay_1"}), listing(["a"], "c1"), listing(["b"])) as server:
            async with AsyncPayments(KEY, server.url, max_retries=0) as client:
                self.assertEqual((await client.payments.create(**BODY)).id, "pay_1")
                self.assertEqual([one.id async for one in client.payments.list()], ["a", "b"])
                self.assertEqual((await client.payments.list()).data[0].id, "b")
                self.assertEqual((await client.payments.list().page()).next_cursor, None)

    async def test_many_at_once_do_not_wait_for_each_other(self):
        def slow(handler):
            time.sleep(0.3)
            as_json(200, {"id": "pay_1"})(handler)

        with ScriptedServer(slow) as server:
            async with AsyncPayments(KEY, server.url) as client:
                started = time.monotonic()
                await asyncio.gather(*(client.payments.get("pay_1") for _ in range(20)))
                self.assertLess(time.monotonic() - started, 3)

    async def test_the_time_of_a_try_counts_while_it_waits_for_a_thread(self):
        def slow(handler):
            time.sleep(1.5)
            as_json(200, {"id": "pay_1"})(handler)

        async def exports(payments):
            async for _ in payments.export():
                pass

        with mock.patch("payments_api._threads.THREADS_MAX", 2), ScriptedServer(slow) as server:
            async with AsyncPayments(KEY, server.url, timeout=0.4, max_retries=0) as client:
                busy = [asyncio.create_task(client.payments.get("pay_1", timeout=10)) for _ in range(4)]
                while len(server.seen) < 2:
                    await asyncio.sleep(0.01)
                for late in (client.payments.get("pay_2"), exports(client.payments)):
                    started = time.monotonic()
                    with self.assertRaises(ConnectionFailedError) as raised:
                        await late
                    self.assertEqual(raised.exception.code, "timeout")
                    self.assertLess(time.monotonic() - started, 1)
                self.assertEqual([one.id for one in await asyncio.gather(*busy)], ["pay_1"] * 4)
                # Nobody waits for it any more, so it is not sent when a thread is free.
                await asyncio.sleep(0.2)
            self.assertEqual({one.path for one in server.seen}, {"/v1/payments/pay_1"})

    async def test_the_loop_runs_on_and_a_cancelled_task_ends_at_once(self):
        def never(_handler):
            time.sleep(3)

        with ScriptedServer(never) as server:
            async with AsyncPayments(KEY, server.url, max_retries=5) as client:
                task = asyncio.create_task(client.payments.get("pay_1"))
                ticks = 0
                while len(server.seen) == 0:
                    ticks += 1
                    await asyncio.sleep(0.01)
                started = time.monotonic()
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.assertLess(time.monotonic() - started, 1)
                self.assertGreater(ticks, 0)
            await asyncio.sleep(0.05)
            self.assertEqual(len(server.seen), 1)

    async def test_errors_are_the_same(self):
        with ScriptedServer(problem(404, "not_found")) as server:
            async with AsyncPayments(KEY, server.url) as client:
                with self.assertRaises(NotFoundError):
                    await client.payments.get("pay_1")
                self.assertNotIn(KEY, repr(client))

    async def test_a_client_that_was_closed_may_be_used_again(self):
        with ScriptedServer(as_json(200, {"id": "pay_1"})) as server:
            async with AsyncPayments(KEY, server.url) as client:
                await client.payments.get("pay_1")
            self.assertEqual((await client.payments.get("pay_1")).id, "pay_1")
            await client.close()
