"""P2: a verdict is sent on a socket once, though a notification and the poll may both find it."""

from __future__ import annotations

import time

import httpx
import pytest

from services.gateway.following import hub as hubs
from tests.gateway.clients import DRAW, Socket, in_turn


@pytest.mark.long
def test_P2_a_verdict_is_sent_once_however_often_the_hub_polls(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.001)
    time.sleep(1.1)  # the poll that is under way still sleeps its second
    for _ in range(3):
        ada, bo = in_turn(http)
        with Socket(http, ada.game, bo.token, 6) as socket:
            for n in range(20):
                socket.send(f"n{n}", DRAW)
                assert [entry["answers"] for entry in socket.read(1)] == [f"n{n}"]
            with pytest.raises(TimeoutError):
                socket.next(0.2)
