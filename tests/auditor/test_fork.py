"""A game that has left the engine for the archive is forked like any other."""

from __future__ import annotations

from services.archive import decode_game_file
from services.referee.games import fold
from tests.auditor.test_whole_server import BODY, RunningServer, is_over, posted, running_server
from tests.deploy.compose import wait_until
from tests.gateway.clients import LEAVE, bearer

__all__ = ["running_server"]  # the fixture


def test_a_fork_of_an_archived_game_goes_on_from_its_state(running_server: RunningServer) -> None:
    created = posted(running_server, "/v1/games", BODY)
    game = created["game"]
    ada = posted(running_server, f"/v1/games/{game}/join", {"name": "Ada"})["token"]
    posted(running_server, f"/v1/games/{game}/start", **bearer(created["token"]))
    posted(running_server, f"/v1/games/{game}/commands", LEAVE, **bearer(ada))
    wait_until(lambda: is_over(running_server, game))
    wait_until(lambda: not running_server.ledger.read_entries(game))

    forked = posted(running_server, f"/v1/games/{game}/forks", {"at": 3}, **bearer(ada))

    assert (forked["of"], forked["at"], forked["afresh"]) == (game, 3, False)
    assert [seat["policy"] for seat in forked["taken"]] == ["greedy"]
    posted(running_server, f"/v1/games/{forked['game']}/join", {"name": "Bo"})
    posted(running_server, f"/v1/games/{forked['game']}/start", **bearer(forked["token"]))
    source = fold(decode_game_file(running_server.archive.read(game) or b"").entries[:3])
    forked_state = fold(running_server.ledger.read_entries(forked["game"])[:3])
    assert (forked_state.own.deck, forked_state.own.ticket_decks, forked_state.own.market) == (
        source.own.deck,
        source.own.ticket_decks,
        source.own.market,
    )
    assert [seat.own.hand for seat in forked_state.seats] == [seat.own.hand for seat in source.seats]


def test_an_unknown_game_can_not_be_forked(running_server: RunningServer) -> None:
    reply = running_server.http.post("/v1/games/no-such-game/forks", json={"at": 3})
    assert (reply.status_code, reply.json()["rule"]) == (404, "GAME-1")
