"""The receiver of docs/how-to/clients.md takes what the server signs, once, and nothing else."""

from __future__ import annotations

import re
import time
from http.server import HTTPServer
from threading import Thread
from typing import Any

from schemas.web.webhooks import Notice, new_secret, sign
from services.auditor.webhook_client import WebhookClient
from tests.auditor.webhook_receiver import HERE
from tests.deploy.compose import ROOT

PAGE = (ROOT / "docs" / "how-to" / "clients.md").read_text()
SECRET = new_secret(b"0123456789abcdef01234567")


def test_the_receiver_of_the_page_takes_what_is_signed_once() -> None:
    # given
    [block] = re.findall(r"```python\n(import base64.*?)\nHTTPServer", PAGE, re.DOTALL)
    block = block.replace("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", SECRET.removeprefix("whsec_"))
    printed: list[Any] = []
    scope: dict[str, Any] = {"print": printed.append}
    exec(block, scope)
    scope["Receiver"].log_message = lambda *_: None
    notice, now = Notice("a-game", 1, 41, "your_turn"), int(time.time())

    def send(body: bytes, signed_at_s: int = now) -> int:
        signature = sign(SECRET, notice.id, signed_at_s, notice.body())
        headers = [
            ("webhook-id", notice.id),
            ("webhook-timestamp", str(signed_at_s)),
            ("webhook-signature", signature),
        ]
        return WebhookClient(HERE).post(f"http://127.0.0.1:{http.server_address[1]}/", headers, body)

    with HTTPServer(("127.0.0.1", 0), scope["Receiver"]) as http:
        thread = Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            # when
            statuses = [
                send(notice.body()),
                send(notice.body()),
                send(b"{}"),
                send(notice.body(), now - 9_999),
            ]
        finally:
            http.shutdown()
            thread.join()
    # then
    assert statuses == [204, 204, 401, 401]
    assert printed == [{"type": "your_turn", "game": "a-game", "seat": 1, "number": 41}]
