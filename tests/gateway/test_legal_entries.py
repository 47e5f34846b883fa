"""Entries with what the seat may do after them, for clients that know no rules: `?legal=true`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import httpx
import pytest
from pydantic_core import to_json

from schemas.commands import write_command
from schemas.stored.entries import ShownBytes, ViewEntry
from schemas.stored.hash_chain import initial_head, next_head
from schemas.trains.field_types import COLORS
from services.gateway.games.service import GatewayService
from services.gateway.tables.table_folds import MAX_OWN_PARTS, TableFolds
from services.gateway.tables.table_port import TableCatalog
from services.referee.games import legal
from services.tables.table_fold import FoldedTable
from tests.gateway.clients import Json, Player, Socket, bearer, begun, entries, in_turn
from tests.rules.given import given


def offered(player: Player) -> list[Json]:
    """What the rules offer a player, by its own view."""
    found: list[Json] = json.loads(to_json([write_command(command) for command in player.legal()]))
    return found


def page(player: Player, after: int = 0, **more: object) -> Json:
    params = {"after": str(after), "legal": "true", **{name: str(value) for name, value in more.items()}}
    reply = player.http.get(f"/v1/games/{player.game}/view", params=params, headers=bearer(player.token))
    assert reply.status_code == 200, reply.text
    found: Json = reply.json()
    return found


# -- what has them -------------------------------------------------------------------


def test_the_entry_that_asks_a_seat_to_act_has_what_the_rules_offer_it(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    with (
        Socket(http, ada.game, ada.token, 6, legal=True) as of_ada,
        Socket(http, bo.game, bo.token, 6, legal=True) as of_bo,
    ):
        for player in (ada, bo):
            for drawn in range(2):
                player.do(player.legal()[0])
                asked = {ada: offered(ada), bo: offered(bo)}
                assert bool(asked[player]) is (drawn == 0), "a second card follows the first"
                for other, socket in ((ada, of_ada), (bo, of_bo)):
                    [entry] = socket.read(1)
                    assert entry.pop("legal", []) == asked[other]
                    assert entry == entries(http, ada.game, other.token)[-1]


def test_all_who_choose_tickets_are_asked_and_a_refusal_asks_again(http: httpx.Client) -> None:
    ada, bo = begun(http)
    with Socket(http, bo.game, bo.token, 4, legal=True) as socket:
        ada.do(ada.legal()[0])
        [after_ada] = socket.read(1)
        assert after_ada["legal"] == offered(bo)
        socket.send("c1", {"type": "draw_blind"})
        [refused] = socket.read(1)
    assert refused["answers"] == "c1"
    assert refused["events"][0]["type"] == "command_refused"
    assert refused["legal"] == offered(bo)


def test_only_the_latest_entry_has_them(http: httpx.Client) -> None:
    # given
    ada, bo = in_turn(http)
    asked = offered(ada)
    whole = entries(http, ada.game, ada.token)
    # when
    with Socket(http, ada.game, ada.token, legal=True) as socket:
        followed = socket.read(len(whole))
    read = page(ada)["entries"]
    # then
    assert followed == read
    assert read[-1].pop("legal") == asked
    assert read == whole, "what an earlier entry allowed is over"
    assert page(ada, most=3)["entries"] == whole[:3]
    assert page(ada, after=len(whole))["entries"] == []
    assert page(bo)["entries"] == entries(http, bo.game, bo.token), "it isn't this seat's turn"


def test_P5_the_public_and_the_host_are_refused(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    for token, status in ((None, 401), ("no token", 401)):
        path = f"/v1/games/{ada.game}/view?legal=true"
        assert http.get(path, headers=bearer(token)).status_code == status
        with Socket(http, ada.game, token, legal=True) as socket:
            socket.problem(None, status, "TOKEN-1")


# -- what they cost ------------------------------------------------------------------


def test_P8_they_are_found_once_for_an_entry_and_seat(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    ada, _ = in_turn(http)
    calls: list[tuple[str, int]] = []
    found = FoldedTable.legal_commands

    def counted(self: FoldedTable, most: int) -> list[dict[str, object]]:
        calls.append((self.game, self.number))
        return found(self, most)

    monkeypatch.setattr(FoldedTable, "legal_commands", counted)
    # when
    with (
        Socket(http, ada.game, ada.token, 6, legal=True) as first,
        Socket(http, ada.game, ada.token, 6, legal=True) as second,
    ):
        ada.do(ada.legal()[0])
        assert first.read(1) == second.read(1) == page(ada, 6)["entries"]
    # then
    assert [number for game, number in calls if game == ada.game] == [7]


def test_P8_a_board_that_offers_very_many_has_only_the_first_of_them() -> None:
    scene = given(hands=[dict.fromkeys(COLORS, 12)])
    table = FoldedTable("scene", 0)
    table.state = scene.state
    every = [write_command(command) for command in legal(scene.state, 0)]
    assert len(every) > 400
    assert table.legal_commands(400) == every[:400]
    described = table.legal(400)
    assert [each.command for each in described.commands] == every[:400] and described.more
    assert not table.legal(len(every)).more


# -- a log that lost its end ---------------------------------------------------------


class Branches:
    """A ledger whose one game has the entries of a branch, by the time of each."""

    def __init__(self, *times: int) -> None:
        self.times = times

    def entries(self) -> list[ViewEntry]:
        head, found = initial_head("game"), []
        for number, at in enumerate(self.times, 1):
            public = b"%d" % at
            head = next_head(head, number, public)
            found.append(ViewEntry(number, at, None, (), ShownBytes(public, None, head)))
        return found

    async def read_view(self, game: str, viewer: int, after: int, limit: int) -> list[ViewEntry]:
        return self.entries()[after:]


class Fold:
    """A fold that remembers the times of what was applied."""

    def __init__(self, game: str, viewer: int | None) -> None:
        self.viewer, self.number, self.head, self.times = viewer, 0, b"", list[int]()

    def apply(self, entries: Sequence[ViewEntry]) -> None:
        self.times += [entry.at for entry in entries]
        self.number, self.head = entries[-1].number, entries[-1].shown.head

    has_own_parts = True

    def legal_commands(self, most: int) -> list[dict[str, object]]:
        return [{"after": time} for time in self.times]


class Catalog:
    new_fold = Fold


def test_P9_few_folds_are_kept_of_games_whose_creators_brought_a_board() -> None:
    ledger = Branches(1)
    folds = TableFolds(
        cast(GatewayService, SimpleNamespace(ledger=ledger, views=None)), cast(TableCatalog, Catalog())
    )
    for number in range(MAX_OWN_PARTS + 5):
        asyncio.run(folds.legal_after(f"game-{number}", 0, 1, ledger.entries()[0].shown.head))
    assert [game for game, _ in folds._latest] == [f"game-{n}" for n in range(5, MAX_OWN_PARTS + 5)]


def test_P7_a_fold_of_entries_that_a_fail_over_lost_is_begun_anew() -> None:
    ledger = Branches(1, 2, 3)
    service = cast(GatewayService, SimpleNamespace(ledger=ledger, views=None))
    folds = TableFolds(service, cast(TableCatalog, Catalog()))

    def after(number: int, head: bytes) -> list[dict[str, object]]:
        return asyncio.run(folds.legal_after("game", 0, number, head))

    lost = ledger.entries()
    assert after(3, lost[2].shown.head) == [{"after": 1}, {"after": 2}, {"after": 3}]
    ledger.times = (1, 4)
    grown = ledger.entries()
    assert after(2, grown[1].shown.head) == [{"after": 1}, {"after": 4}]
    assert after(3, lost[2].shown.head) == [], "it is gone"
    ledger.times = (1, 4, 5)
    assert after(3, ledger.entries()[2].shown.head) == [{"after": 1}, {"after": 4}, {"after": 5}]
    assert after(2, grown[1].shown.head) == [], "the game has gone on"
