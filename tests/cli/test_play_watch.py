"""`ledgerline play` verifies the public view as any client can: it shows only what fits the chain (P6)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.stored.entries import ViewEntry
from services.cli.output import CommandLineError
from services.cli.playing.following import SilentDisplay, WatchedGame, follow_games
from services.ledger.log.views import ViewPage, ViewPageOrError, ViewRequest
from services.ledger.ports import LogRewoundError
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


class StoredMeanwhile:
    """An engine that removes the streams of a game when eight of its entries were read; then it is read as a whole."""

    def __init__(self, entries: Sequence[ViewEntry]) -> None:
        self.entries = entries

    def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]:
        """The first eight entries; to who knows an entry by its head, that it isn't there."""
        return [
            LogRewoundError(f"entry {each.after} isn't there any more")
            if each.after and each.head == self.entries[each.after - 1].shown.head
            else ViewPage({None: [*self.entries[:8]]}, b"", b"")
            for each in requests
        ]

    def follow_view(self, game: str, viewer: Seat | None, after: int, block_ms: int) -> list[ViewEntry]:
        """The entries after that one, once all games have begun."""
        return [*self.entries[after:]] if after else []


def test_P9_games_whose_streams_go_while_they_are_followed_are_shown_to_the_end() -> None:
    engine = StoredMeanwhile(public_view(SmallServer().play(seats=2, options={"cars": 8})))
    watched = [WatchedGame(GAME), WatchedGame(GAME)]
    follow_games(engine, engine, watched, SilentDisplay(), lambda: "")
    assert [game.sequence for game in watched] == [len(engine.entries)] * 2
    assert all(game.state.result for game in watched)
