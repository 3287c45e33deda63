import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from payments_api import ConnectionFailedError, Payments
from scripted_server import ScriptedServer, as_json


class Proxy:
    """An HTTP proxy: CONNECT, and whole URLs of plain addresses."""

    def __init__(self, wants_password):
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_CONNECT(self):
                outer.asked.append(("CONNECT", self.path, self.headers.get("proxy-authorization")))
                if wants_password and self.headers.get("proxy-authorization") is None:
                    self.send_error(407)
                    return
                host, port = self.path.rsplit(":", 1)
                self.close_connection = True
                with socket.create_connection(("127.0.0.1", int(port))) as onward:
                    self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    one = threading.Thread(target=pump, args=(self.connection, onward), daemon=True)
                    one.start()
                    pump(onward, self.connection)
                    one.join(5)

            def do_GET(self):
                outer.asked.append(("GET", self.path, self.headers.get("proxy-authorization")))
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def pump(source, target):
    try:
        while True:
            chunk = source.recv(65536)
            if not chunk:
                break
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Tunnel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        key, cls.certificate = (os.path.join(cls.folder, name) for name in ("key.pem", "cert.pem"))
        request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
        subprocess.run([*request, *subject, "-keyout", key, "-out", cls.certificate], check=True, capture_output=True)
        cls.secure = ScriptedServer(as_json(200, {"id": "pay_1"}))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cls.certificate, key)
        cls.secure.server.socket = context.wrap_socket(cls.secure.server.socket, server_side=True)
        cls.url = cls.secure.url.replace("http://127.0.0.1", "https://localhost")

    @classmethod
    def tearDownClass(cls):
        cls.secure.close()
        shutil.rmtree(cls.folder)

    def get(self, **options):
        with Payments("sk_test_x", **{"base_url": self.url, "max_retries": 0, **options}) as client:
            return client.payments.get("pay_1")

    def test_a_certificate_of_ones_own_is_trusted_where_it_is_given_and_refused_at_once_where_not(self):
        with open(self.certificate, encoding="ascii") as file:
            text = file.read()
        for ca in (self.certificate, text):
            self.assertEqual(self.get(ca=ca).id, "pay_1")
        with self.assertRaises(ConnectionFailedError) as raised:
            self.get(max_retries=5)
        self.assertFalse(raised.exception.retryable)
        self.assertIn("certificate refused", str(raised.exception))

    def test_https_goes_through_a_tunnel_of_the_proxy(self):
        with Proxy(wants_password=True) as proxy:
            address = f"http://user:p%40ss@127.0.0.1:{proxy.port}"
            self.assertEqual(self.get(ca=self.certificate, proxy=address).id, "pay_1")
            method, target, password = proxy.asked[0]
            self.assertEqual((method, target), ("CONNECT", self.url.removeprefix("https://")))
            self.assertEqual(password, "Basic dXNlcjpwQHNz")

    def test_a_plain_address_is_asked_of_the_proxy_by_its_whole_url(self):
        with Proxy(wants_password=False) as proxy:
            self.get(base_url="http://payments.invalid:81", proxy=f"http://u:p@127.0.0.1:{proxy.port}")
            expected = ("GET", "http://payments.invalid:81/v1/payments/pay_1", "Basic dTpw")
            self.assertEqual(proxy.asked, [expected])

    def test_a_proxy_that_refuses_or_is_not_there_is_named_without_the_password(self):
        with Proxy(wants_password=True) as proxy:
            addresses = [f"http://127.0.0.1:{proxy.port}", "http://user:hidden@127.0.0.1:9"]
            for address in addresses:
                with self.assertRaises(ConnectionFailedError) as raised:
                    self.get(ca=self.certificate, proxy=address)
                self.assertNotIn("hidden", f"{raised.exception} {raised.exception!r}")
                self.assertRegex(str(raised.exception), "407|refused")
