"""`ledgerline play` watches as anybody may: it believes only what fits the chain (P6)."""

from __future__ import annotations

import pytest

from schemas.codec import build_view_entry
from schemas.entries import ViewEntry
from services.cli.exit import CommandLineError
from services.cli.watch import WatchedGame
from tests.verification.audit.small_server import GAME, House


def shown(house: House) -> list[ViewEntry]:
    """What the house shows to all."""
    return [build_view_entry(n, each.public, None, each.head) for n, each in enumerate(house.log, 1)]


def test_P6_who_watches_believes_an_honest_house() -> None:
    house = House().play(seats=2, options={"cars": 8})
    watched = WatchedGame(GAME)
    watched.apply_entries(shown(house))
    assert watched.state.result
    assert watched.view_verifier.head == house.head


def test_P6_who_watches_says_loudly_that_a_house_is_not_to_be_believed() -> None:
    entries = shown(House().play(seats=2, options={"cars": 8}))
    other = shown(House(seed="1f" * 32).play(seats=2, options={"cars": 8}))
    with pytest.raises(CommandLineError, match=r"NOT TO BE BELIEVED: game game-one, entry 9"):
        WatchedGame(GAME).apply_entries([*entries[:8], other[8], *entries[9:]])
