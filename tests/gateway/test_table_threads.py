"""P8: what a table shows is found on a thread, so that a slow board holds up nobody else."""

from __future__ import annotations

import sys
import threading

import httpx
import pytest

from services.runtime.interpreter_tuning import TURN_S
from services.tables.table_fold import FoldedTable
from tests.gateway.clients import bearer, in_turn

METHODS = {"state": "table", "state?at=3": "table", "legal": "legal", "board": "board", "replays/3": "table"}


@pytest.mark.parametrize("path", METHODS)
def test_P8_a_table_is_found_beside_the_event_loop(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    ada, _ = in_turn(http)
    method, threads = METHODS[path], []
    original = getattr(FoldedTable, method)

    def noted(fold: FoldedTable, *arguments: object) -> object:
        if fold.game == ada.game:
            threads.append(threading.current_thread().name)
        return original(fold, *arguments)

    monkeypatch.setattr(FoldedTable, method, noted)
    reply = http.get(f"/v1/games/{ada.game}/{path}", headers=bearer(ada.token))
    assert reply.status_code == 200, reply.text
    assert threads
    assert all(name.startswith("tables-") for name in threads), threads


@pytest.mark.usefixtures("http")
def test_P8_what_thinks_beside_a_gateway_gives_it_the_interpreter_soon() -> None:
    assert sys.getswitchinterval() == pytest.approx(TURN_S)
