"""What is kept of a person who sat at a seat that the host freed is apart from what is kept of the next one there."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from schemas.stored.player_names import SaltedName, SaltedNames, by_commitment
from services.cli.operating.person import NamedSeat, Wanted, _exported_seat, find_seats
from services.verification.game_repository import GameRepository

GAME = "usa-seats-freed"  # seat 1 was taken by `two`, freed, and taken by `three`
TWO, THREE = SaltedName(bytes(32), "two"), SaltedName(bytes(32), "three")
GOLDEN = Path(__file__).parents[1] / "golden"


class OneGame:
    """A repository of the golden game, with the names beside its log."""

    def games(self, limit: int) -> list[str]:
        return [GAME]

    def read_entries(self, game: str) -> Sequence[bytes]:
        return [b64decode(line) for line in json.loads((GOLDEN / f"{game}.json").read_text())["log"]]

    def read_names(self, game: str) -> SaltedNames:
        return by_commitment([TWO, THREE])


REPOSITORY = cast("GameRepository", OneGame())


def found(wanted: Wanted) -> NamedSeat:
    [seat] = find_seats(REPOSITORY, [wanted], list).seats
    return seat


def exported(wanted: Wanted) -> dict[str, Any]:
    return _exported_seat(REPOSITORY, found(wanted))


def test_each_holder_of_a_seat_is_found_by_its_own_name_and_the_last_by_the_seat() -> None:
    assert found(Wanted("two")) == NamedSeat(GAME, 1, [TWO], 0, is_freed=True)
    assert found(Wanted("three")) == NamedSeat(GAME, 1, [THREE], 1)
    assert found(Wanted(f"{GAME}:1", GAME, 1)).names == {"three"}


def test_an_export_has_what_this_person_sent_and_nothing_of_the_other() -> None:
    two, three = exported(Wanted("two")), exported(Wanted("three"))
    assert (two["taken"]["contribution"], three["taken"]["contribution"]) == ("2c" * 32, "3c" * 32)
    assert [command["number"] for command in two["commands"]] == [4]
    assert len(three["commands"]) > 20
    assert min(command["number"] for command in three["commands"]) > three["taken"]["number"]
