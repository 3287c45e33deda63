"""Makes one call per line of its input, and prints what came of it: the tests speak to the installed package through it."""

import asyncio
import inspect
import json
import os
import sys

import payments_api

OPTIONS = {"timeout": float(os.environ["TIMEOUT"]), "max_retries": int(os.environ["RETRIES"])}
ADDRESS = (os.environ["KEY"], os.environ["URL"])


def method_of(client, name):
    for part in name.split("."):
        client = getattr(client, part)
    return client


def plain(value):
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value


def call_of(client, command):
    keywords = {**command.get("fields", {}), **command.get("options", {})}
    return method_of(client, command["call"])(*command.get("positional", []), **keywords)


def run(client, command):
    result = call_of(client, command)
    if isinstance(result, dict) or not hasattr(result, "__iter__"):
        return result
    items = []
    for item in result:
        items.append(plain(item))
        if len(items) >= command["take"]:
            break
    return items


async def run_async(client, command):
    result = call_of(client, command)
    if not hasattr(result, "__aiter__"):
        return await result
    items = []
    async for item in result:
        items.append(plain(item))
        if len(items) >= command["take"]:
            break
    return items


def answer(result):
    print(json.dumps(result), flush=True)


def failure(error):
    fields = ("status", "code", "request_id", "errors", "retryable")
    return {
        "error": type(error).__name__,
        "message": str(error),
        **{name: getattr(error, name, None) for name in fields},
    }


def main():
    with payments_api.Payments(*ADDRESS, **OPTIONS) as client:
        for line in sys.stdin:
            try:
                answer({"value": run(client, json.loads(line))})
            except Exception as error:
                answer(failure(error))


async def main_async():
    loop = asyncio.get_running_loop()
    async with payments_api.AsyncPayments(*ADDRESS, **OPTIONS) as client:
        while True:
            line = await loop.run_in_executor(None, sys.stdin.readline)
            if not line:
                return
            try:
                answer({"value": await run_async(client, json.loads(line))})
            except Exception as error:
                answer(failure(error))


assert "site-packages" in inspect.getfile(payments_api), "the tests are about the installed package"
if os.environ.get("ASYNC"):
    asyncio.run(main_async())
else:
    main()
