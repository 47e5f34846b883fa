"""A game that has left the engine for the archive is forked like any other."""

from __future__ import annotations

from services.archive import decode_game_file
from services.referee.rules import fold
from tests.auditor.test_whole_server import BODY, Home, home, is_over, posted
from tests.deploy.compose import wait_until
from tests.gateway.clients import LEAVE, bearer

__all__ = ["home"]  # the fixture


def test_a_game_of_the_archive_goes_on_as_it_lay(home: Home) -> None:
    created = posted(home, "/games", BODY)
    game = created["game"]
    ada = posted(home, f"/games/{game}/join", {"name": "Ada"})["token"]
    posted(home, f"/games/{game}/start", **bearer(created["token"]))
    posted(home, f"/games/{game}/commands", LEAVE, **bearer(ada))
    wait_until(lambda: is_over(home, game))
    wait_until(lambda: not home.ledger.read_entries(game))

    forked = posted(home, f"/games/{game}/forks", {"at": 3}, **bearer(ada))

    assert (forked["of"], forked["at"], forked["afresh"]) == (game, 3, False)
    assert [seat["policy"] for seat in forked["taken"]] == ["greedy"]
    posted(home, f"/games/{forked['game']}/join", {"name": "Bo"})
    posted(home, f"/games/{forked['game']}/start", **bearer(forked["token"]))
    there = fold(decode_game_file(home.archive.read(game) or b"").entries[:3])
    here = fold(home.ledger.read_entries(forked["game"])[:3])
    assert (here.deck, here.ticket_decks, here.market) == (there.deck, there.ticket_decks, there.market)
    assert [place.hand for place in here.seats] == [place.hand for place in there.seats]


def test_there_is_no_fork_of_a_game_that_is_in_neither(home: Home) -> None:
    reply = home.http.post("/games/no-such-game/forks", json={"at": 3})
    assert (reply.status_code, reply.json()["rule"]) == (404, "GAME-1")
