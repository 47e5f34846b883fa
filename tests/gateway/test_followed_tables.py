"""Entries with what has changed on the table: `?state=true`, for pages that draw a move after one round trip."""

from __future__ import annotations

from contextlib import ExitStack

import httpx
import pytest

from services.ledger import RedisLedger
from services.tables.table_fold import FoldedTable
from tests.gateway.clients import CreatedGame, Json, Player, Socket, bearer, in_turn

ASKED = "&state=true"
BY_REQUEST = {"age_ms", "moves", "bots_late"}  # of a table's fields, those that differ by when who asks


def table(player: Player, since: int = 0, token: str | None = None) -> Json:
    """The table as it is read over HTTP."""
    params = {"since": str(since), "legal": "true"}
    reply = player.http.get(f"/v1/games/{player.game}/state", params=params, headers=bearer(token))
    found: Json = reply.raise_for_status().json()
    return found


def without(found: Json) -> Json:
    return {name: value for name, value in found.items() if name not in BY_REQUEST}


def test_VIEW_1_each_viewer_is_told_by_changes_what_it_would_read_and_nothing_else(
    http: httpx.Client,
) -> None:
    ada, bo = in_turn(http)
    tokens = {"ada": ada.token, "bo": bo.token, "public": None}
    told: dict[str, Json] = {viewer: {} for viewer in tokens}
    with ExitStack() as stack:
        sockets = {
            viewer: stack.enter_context(Socket(http, ada.game, token, 6, asked=ASKED))
            for viewer, token in tokens.items()
        }
        for turn in range(12):
            player = (ada, bo)[turn // 2 % 2]
            player.do(player.legal()[0])
            for viewer, socket in sockets.items():
                # when
                [entry] = socket.read(1)
                # then
                state = entry["state"]
                read = table(ada, entry["number"] - 1, tokens[viewer])
                assert state["moves"] == read["moves"]
                assert state["age_ms"] <= read["age_ms"]
                told[viewer] |= state
                assert without(told[viewer]) == without(read)
                if turn:
                    assert "routes" not in state, "nothing was claimed"
    assert told["public"]["hand"] is None
    assert told["public"]["legal"] is None


def test_who_comes_back_is_told_everything_and_the_moves_in_between(http: httpx.Client) -> None:
    # given
    ada, bo = in_turn(http)
    for player in (ada, ada, bo):
        player.do(player.legal()[0])
    # when
    with Socket(http, ada.game, ada.token, 7, asked=ASKED) as socket:
        eighth, ninth = socket.read(2)
    # then
    assert "state" not in eighth, "the game has gone on"
    read = table(ada, 7, ada.token)
    assert without(ninth["state"]) == without(read)
    assert ninth["state"]["moves"] == read["moves"]
    assert [move["number"] for move in read["moves"]] == [8, 9]


def test_a_refused_command_of_ones_own_is_told_with_the_table(http: httpx.Client) -> None:
    _, bo = in_turn(http)
    with Socket(http, bo.game, bo.token, 6, asked=ASKED) as socket:
        socket.send("c1", {"type": "draw_blind"})
        [refused] = socket.read(1)
    assert refused["answers"] == "c1"
    assert without(refused["state"]) == without(table(bo, 6, bo.token))


@pytest.mark.parametrize("after", [0, 2])
def test_a_spectator_of_a_delayed_game_is_told_nothing_that_it_is_not_shown(
    http: httpx.Client, after: int
) -> None:
    # given
    ada, bo = in_turn(http, spectator_delay=4)
    with Socket(http, ada.game, None, after, asked=ASKED) as socket:
        shown = table(ada)["number"]
        assert shown == 2
        told: Json = {}
        for entry in socket.read(shown - after):
            told |= entry.get("state", {})
        # when
        for turn in range(6):
            player = (ada, bo)[turn // 2 % 2]
            player.do(player.legal()[0])
            [entry] = socket.read(1)
            told |= entry["state"]
            # then
            assert entry["number"] == told["number"] == turn + 3
            assert without(told) == without(table(ada))
            assert all(move["number"] <= told["number"] for move in told["moves"])


def test_P8_a_table_is_folded_and_written_once_for_all_who_see_the_same(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    ada, _ = in_turn(http)
    calls: list[tuple[int, int | None]] = []
    written = FoldedTable.table

    def counted(self: FoldedTable, since: int) -> object:
        calls.append((self.number, self.viewer))
        return written(self, since)

    monkeypatch.setattr(FoldedTable, "table", counted)
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(Socket(http, ada.game, token, 6, asked=ASKED))
            for token in (ada.token, ada.token, None, None, None)
        ]
        # when
        ada.do(ada.legal()[0])
        states = [socket.read(1)[0]["state"] for socket in sockets]
    # then
    assert sorted(calls, key=str) == [(7, 0), (7, None)]
    for state in states:
        state.pop("age_ms")
    assert states[0] == states[1]
    assert states[2] == states[3] == states[4]


def test_erased_names_are_not_told_to_who_comes_anew(http: httpx.Client, ledger: RedisLedger) -> None:
    # given
    ada, _ = in_turn(http)
    with Socket(http, ada.game, None, 6, asked=ASKED) as socket:
        ada.do(ada.legal()[0])
        assert socket.read(1)[0]["state"]["seats"][0]["name"] == "Ada"
    # when
    ledger.erase_names(ada.game, [*ledger.read_names(ada.game)])
    # then
    with Socket(http, ada.game, None, 6, asked=ASKED) as socket:
        assert socket.read(1)[0]["state"]["seats"][0]["name"] == "a player"


def test_the_last_entry_has_the_result(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "random", options={"cars": 8})
    ada = created.join("Ada")
    created.start()
    with Socket(http, ada.game, ada.token, 0, asked=ASKED) as socket:
        ada.send({"type": "leave"})
        told: Json = {}
        while told.get("status") != "over":
            told |= socket.read(1)[0].get("state", {})
    assert without(told) == without(table(ada, 0, ada.token))
    assert told["result"]
