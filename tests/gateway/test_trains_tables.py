"""Tables of remote Trains players in the real pipeline: ordinary logged games, which end as on the rules alone."""

from __future__ import annotations

import httpx
import pytest

from schemas.errors import InvalidInputError
from schemas.events import CommandRefused, SeatGone
from schemas.stored.codec import unpack_entry
from services.bootstrap.embedded import EmbeddedServer
from services.cli.trains.remote_play import MAX_SEAT_NAME, LoggedTables, seat_names
from services.ledger import RedisLedger
from services.verification.audit import audit
from services.verification.replay import Replay
from tests.trains_server.peers import Misdeed, Peer, cards_of, play

PEERS = (
    Peer("Ann"),
    Peer("Mal", call="pick"),  # silent there
    Peer("B" * 50, "hold-10"),
    Peer("Cyd", call="play", nth=1, misdeed=lambda call: Misdeed(b'["Ash", "Gap", "red", 3]')),
    Peer("Eli", "hold-10", call="more", nth=1),
)


def test_P3_a_logged_tournament_ends_as_one_on_the_rules_alone_and_its_game_can_be_audited(
    server: EmbeddedServer, http: httpx.Client, ledger: RedisLedger
) -> None:
    cards = cards_of(5, 36)
    played = play(PEERS, cards, tables=LoggedTables(http, ledger, cards, server.failure_reason))
    alone = play(PEERS, cards)
    assert played.result.protocol_json() == alone.result.protocol_json()
    assert played.calls == alone.calls
    (game,) = played.result.games
    assert game.outcome == alone.result.games[0].outcome
    log = ledger.read_entries(game.game)
    assert audit(Replay(game.game, log)).ok
    entries = [unpack_entry(entry) for entry in log]
    events = [event for entry in entries for event in entry.events]
    assert [event.seat for event in events if isinstance(event, SeatGone)] == [1, 3, 4]
    (refused,) = [event for event in events if isinstance(event, CommandRefused)]
    assert (refused.seat, refused.rule) == (3, "ROUTE-1")
    assert {entry.seat for entry in entries} == {None, 0, 1, 2, 3, 4}


def test_a_seat_has_a_name_of_its_own_however_long_the_players_are() -> None:
    names = seat_names(["A" * 50] * 8)
    assert len(set(names)) == 8
    assert all(len(name) == MAX_SEAT_NAME for name in names)
    assert seat_names(["A" * MAX_SEAT_NAME, "AI", "Al", "greedy"]) == [
        "A" * MAX_SEAT_NAME,
        "AI",
        "Al at seat 3",
        "greedy at seat 4",
    ]


def test_a_server_that_refuses_a_table_ends_the_tournament_with_its_reason(
    server: EmbeddedServer, http: httpx.Client, ledger: RedisLedger
) -> None:
    tables = LoggedTables(http, ledger, ["red"] * 7, server.failure_reason)
    with pytest.raises(InvalidInputError, match=r"position\.deck: 7 cards"):
        play(PEERS[:2], cards_of(1), tables=tables)
