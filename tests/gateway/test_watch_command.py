"""`ledgerline watch` follows a game while it is played, and says of each entry what its page says."""

from __future__ import annotations

import re

import httpx
import pytest

from schemas.errors import InvalidInputError
from services.cli.games.replay import follow_game
from services.cli.output import GameNotFoundError, console
from services.ledger import RedisLedger
from services.verification.game_repository import GameRepository
from tests.gateway.clients import CreatedGame


def test_a_game_is_followed_to_its_end_in_the_sentences_of_its_page(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    # given
    created = CreatedGame(http, "greedy", "random", options={"last_cars": 42, "cars": 45})
    created.start()
    # when
    with console.capture() as printed:
        follow_game(GameRepository(ledger, None), ledger, created.game, "public")
    # then
    lines = re.findall(r"^ *(\d+) [0-9:.]+  (.+)$", printed.get(), re.MULTILINE)
    table = http.get(f"/v1/games/{created.game}/state", params={"since": 0}).json()
    assert lines == [(str(move["number"]), text) for move in table["moves"] for text in move["text"]]
    assert table["status"] == "over"


def test_a_game_or_a_viewer_that_isnt_there_is_named(http: httpx.Client, ledger: RedisLedger) -> None:
    repository = GameRepository(ledger, None)
    with pytest.raises(GameNotFoundError, match="there is no game no-such-game"):
        follow_game(repository, ledger, "no-such-game", "public")
    game = CreatedGame(http, "greedy", "random").game
    with pytest.raises(InvalidInputError, match="neither public nor a seat from A to B"):
        follow_game(repository, ledger, game, "2")
