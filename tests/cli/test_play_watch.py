"""`ledgerline play` watches as anybody may: it believes only what fits the chain (P6)."""

from __future__ import annotations

import pytest

from schemas.codec import join_view
from schemas.entries import ViewEntry
from services.cli.play import Failed, Watched
from tests.verification.audit.small_server import GAME, House


def shown(house: House) -> list[ViewEntry]:
    """What the house shows to all."""
    return [join_view(n, each.public, None, each.head) for n, each in enumerate(house.log, 1)]


def test_P6_who_watches_believes_an_honest_house() -> None:
    house = House().play(seats=2, options={"cars": 8})
    watched = Watched(GAME)
    watched.take(shown(house))
    assert watched.table.over
    assert watched.witness.head == house.head


def test_P6_who_watches_says_loudly_that_a_house_is_not_to_be_believed() -> None:
    entries = shown(House().play(seats=2, options={"cars": 8}))
    other = shown(House(seed="1f" * 32).play(seats=2, options={"cars": 8}))
    with pytest.raises(Failed, match=r"NOT TO BE BELIEVED: game game-one, entry 9"):
        Watched(GAME).take([*entries[:8], other[8], *entries[9:]])
