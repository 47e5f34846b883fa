"""`ledgerline play` verifies the public view as any client can: it shows only what fits the chain (P6)."""

from __future__ import annotations

import pytest

from schemas.codec import build_view_entry
from schemas.entries import ViewEntry
from services.cli.exit import CommandLineError
from services.cli.watch import WatchedGame
from tests.verification.audit.small_server import GAME, SmallServer


def public_view(server: SmallServer) -> list[ViewEntry]:
    """The entries of the server's public view."""
    return [
        build_view_entry(sequence, entry.public, None, entry.head)
        for sequence, entry in enumerate(server.log, 1)
    ]


def test_P6_the_games_of_an_honest_server_are_shown_to_the_end() -> None:
    server = SmallServer().play(seats=2, options={"cars": 8})
    watched = WatchedGame(GAME)
    watched.apply_entries(public_view(server))
    assert watched.state.result
    assert watched.view_verifier.head == server.head


def test_P6_a_view_that_does_not_fit_its_chain_ends_the_command_with_a_warning() -> None:
    entries = public_view(SmallServer().play(seats=2, options={"cars": 8}))
    other = public_view(SmallServer(seed="1f" * 32).play(seats=2, options={"cars": 8}))
    with pytest.raises(CommandLineError, match=r"NOT TO BE BELIEVED: game game-one, entry 9"):
        WatchedGame(GAME).apply_entries([*entries[:8], other[8], *entries[9:]])
