"""A receiver of webhooks on this machine, which keeps what it was sent and answers as a test wants."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from threading import Event, Thread
from typing import Any, Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from services.runtime.webhook_urls import WebhookPolicy

HERE: Final = WebhookPolicy("http", (ip_network("127.0.0.0/8"),))
SECRET: Final = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()


class Request(NamedTuple):
    """What came in."""

    path: str
    headers: dict[str, str]  # their names in small letters
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def is_signed_with(self, secret: str) -> bool:
        """As the page of Standard Webhooks says, and not as the product does it."""
        key = base64.b64decode(secret.split("_")[1])
        signed = b".".join([self.id.encode(), self.headers["webhook-timestamp"].encode(), self.body])
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return self.headers["webhook-signature"].split() == [f"v1,{expected}"]


class Receiver:
    """The address of the receiver, what it got, and the status that it answers with."""

    def __init__(self, url: str) -> None:
        self.url, self.status = url, 204
        self.may_answer = Event()
        self.may_answer.set()
        self.requests: list[Request] = []

    def taken(self) -> list[Request]:
        """What came in since this was asked last."""
        taken, self.requests = self.requests, []
        return taken


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver, until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.requests.append(Request(self.path, headers, body))
            receiver.may_answer.wait(300)
            self.send_response(receiver.status)
            self.send_header("Location", f"{receiver.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        receiver = Receiver(f"http://127.0.0.1:{http.server_address[1]}")
        thread = Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield receiver
        finally:
            http.shutdown()
            thread.join()


class Browser:
    """A browser's side of Web Push: its keys, and what it reads of a message with them (RFC 8291, written anew here)."""

    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._point = self._private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self._auth = b"sixteen bytes :)"
        self.keys: Final = {"p256dh": base64url(self._point), "auth": base64url(self._auth)}

    @property
    def stored_keys(self) -> str:
        """Its keys as they are stored."""
        return f"{self.keys['p256dh']} {self.keys['auth']}"

    def read(self, body: bytes) -> Any:
        """The JSON in a message to it."""
        salt, sender = body[:16], body[21:86]
        assert (int.from_bytes(body[16:20]), body[20]) == (4_096, 65)
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        secret = self._private.exchange(ec.ECDH(), theirs)
        mixed = hmac.digest(self._auth, secret, "sha256")
        shared = hmac.digest(mixed, b"WebPush: info\0" + self._point + sender + b"\x01", "sha256")
        extracted = hmac.digest(salt, shared, "sha256")
        key = hmac.digest(extracted, b"Content-Encoding: aes128gcm\0\x01", "sha256")[:16]
        nonce = hmac.digest(extracted, b"Content-Encoding: nonce\0\x01", "sha256")[:12]
        text = AESGCM(key).decrypt(nonce, body[86:], None)
        assert text.endswith(b"\x02")
        return json.loads(text[:-1])


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
