"""A board on which a search never ends: one game of it would stop all games of every referee."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.compose import Stage, stage, wait_until
from tests.gateway.clients import LEAVE, CreatedGame
from tests.rules.hostile_networks import bipartite, board_of

PLAYERS = ("human", "human")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Stage]:
    """An engine, a gateway and one referee, each a process that can be killed whatever it does."""
    with stage(tmp_path) as running:
        running.start_engine()
        running.start("gateway")
        running.start("referee")
        wait_until(running.healthy)
        yield running


def test_a_seat_that_owns_every_route_of_such_a_board_is_scored_and_other_games_go_on(server: Stage) -> None:
    board = board_of("many-ways", bipartite(3, 17))  # its longest trail was searched for without end
    position = {"routes": {route["id"]: 0 for route in board["routes"]}}
    attack = CreatedGame(
        server.http, *PLAYERS, ruleset="usa", board=board, options={"cars": 51}, position=position
    )
    players = [attack.join(name) for name in ("Ada", "Bo")]
    attack.start()

    for player in players:
        assert player.send(LEAVE).status_code == 200

    [ended] = [event for event in server.view(attack.game)[-1]["events"] if event["type"] == "game_ended"]
    assert [score["longest"] for score in ended["scores"]] == [17 * 2 + 2, 0]
    other = CreatedGame(server.http, *PLAYERS)
    other.join("Cy")
    other.join("Di")
    other.start()
