"""Rules that never return: the game of a stranger who finds such a bug stops nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from services.bootstrap.composition import open_ledger
from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from tests.gateway.clients import LEAVE, begun, in_turn
from tests.many_clients import settings_for_many_clients
from tests.referee.endless_rules import ENDLESS, endless, playable, spin

LIMIT_S = 1.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """All services as threads of one process, one referee among them."""
    settings = settings_for_many_clients(decision_s=LIMIT_S)
    with playable(endless(spin)), run_embedded_server(tmp_path, settings) as running:
        yield running


@pytest.mark.long
def test_a_game_whose_decision_never_ends_holds_no_other_game_and_no_lease(server: EmbeddedServer) -> None:
    with (
        httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http,
        closing(open_ledger(server.settings)) as ledger,
    ):
        attackers, others = begun(http, ruleset=ENDLESS), in_turn(http)
        members = ledger.membership().heartbeat("probe", None, 0).members
        with pytest.raises(httpx.ReadTimeout):
            http.post(
                f"/v1/games/{attackers[1].game}/commands",
                json=LEAVE,
                headers={"Authorization": f"Bearer {attackers[1].token}"},
                timeout=0.2,
            )
        turn = 0
        while not (dead_letters := ledger.dead_letters().list_all()):
            player = others[turn % 2]
            player.do(player.legal()[0])
            turn += not player.legal()
        assert [letter.reason for letter in dead_letters] == [f"decision took longer than {LIMIT_S:g} s"]
        assert dead_letters[0].delivery_count == 3
        assert set(members) - {"probe"} <= set(ledger.membership().heartbeat("probe", None, 0).members)
        attackers[0].do(attackers[0].legal()[0])
