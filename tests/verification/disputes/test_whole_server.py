"""A whole server: a seat disputes a move over HTTP, and the embedded auditor answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from services.bootstrap.embedded import run_embedded_server
from tests.auditor.frequent_tasks import frequent_tasks
from tests.deploy.compose import wait_until
from tests.gateway.clients import LEAVE, bearer, begun
from tests.many_clients import settings_for_many_clients


@pytest.mark.long
def test_the_server_answers_while_the_game_runs_and_again_when_it_is_over(tmp_path: Path) -> None:
    settings = settings_for_many_clients(archived_stays_s=0)
    with (
        frequent_tasks(),
        run_embedded_server(tmp_path, settings) as running,
        httpx.Client(base_url=running.url, timeout=120, trust_env=False) as http,
    ):
        ada, bo = begun(http)
        number = ada.do(ada.legal()[0])["number"]
        body = {"number": number, "reason": "I meant the others."}
        raised = http.post(f"/v1/games/{ada.game}/disputes", json=body, headers=bearer(ada.token))
        assert raised.status_code == 202

        def current() -> Any:
            return http.get(raised.headers["Location"], headers=bearer(ada.token)).json()

        wait_until(lambda: current()["state"] == "answered")
        assert current()["answer"]["as_the_rules_say"] is True
        for player in (ada, bo):
            assert player.send(LEAVE).status_code == 200
        wait_until(lambda: current()["final"])
        assert current()["answer"]["ok"]
        assert running.failure_reason() == ""
