"""A server that answers as it is told, for what the real service never does."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Seen:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body

    def body_json(self):
        return json.loads(self.body)


class ScriptedServer:
    """Requests beyond the last answer get the last one again."""

    def __init__(self, *answers):
        self.answers = answers
        self.seen = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                try:
                    self.give()
                except OSError:
                    self.close_connection = True  # The client has left.

            def give(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.seen.append(Seen(self.command, self.path, headers, body.decode("utf-8")))
                outer.answers[min(len(outer.seen), len(outer.answers)) - 1](self)

            do_GET = do_POST = do_PATCH = do_DELETE = do_CONNECT = answer

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def text(status, body, content_type="text/html", **headers):
    def answer(handler):
        raw = body.encode("utf-8")
        handler.send_response(status)
        handler.send_header("content-type", content_type)
        if status != 204:
            handler.send_header("content-length", str(len(raw)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(raw)

    return answer


def as_json(status, body, **headers):
    return text(status, json.dumps(body), "application/json", **headers)


def problem(status, code, more=None, **headers):
    body = {"type": "x", "title": code, "status": status, "detail": f"Refused: {code}.", "code": code}
    body = {**body, "request_id": "req_1", **(more or {})}
    return text(status, json.dumps(body), "application/problem+json", x_request_id="req_1", **headers)


def cut(handler):
    handler.close_connection = True
    handler.connection.close()


def listing(ids, next_cursor=None):
    return as_json(200, {"object": "list", "data": [{"id": id} for id in ids], "next_cursor": next_cursor})
