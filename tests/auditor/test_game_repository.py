"""A game is read the same whether it is in the engine or has left for the archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.codec import Corrupt, pack, unpack
from schemas.entries import Shown, ViewEntry, write_view
from services.archive import Archive, read_file
from services.archive.game_file import folded
from services.verification.game_repository import Kept, Shelf
from tests.auditor.conftest import STAYS_S, At
from tests.auditor.given import play_out
from tests.referee.running_referee import GAME, opening, submit

OTHER = "game-two"
VIEWERS = (None, 0, 1)


def leave(at: At, game: str = GAME) -> None:
    """A game is archived, and leaves the engine."""
    at.work()
    at.wall.now += round(STAYS_S * 1000)
    at.referee.retire()
    assert at.ledger.history(game) == []


def whole(entries: list[ViewEntry]) -> list[tuple[object, Shown]]:
    """All of a view: what it tells, the bytes it was read from, and the heads."""
    return [(write_view(entry), entry.shown) for entry in entries]


def test_a_game_that_has_left_is_read_as_it_was(at: At) -> None:
    play_out(at.ledger, at.referee)
    kept = Kept(at.ledger, Shelf(at.archive))
    log = kept.history(GAME)
    views = {viewer: kept.seen(GAME, viewer) for viewer in VIEWERS}
    leave(at)
    assert kept.history(GAME) == log
    assert kept.history(GAME, 3) == log[3:]
    for viewer in VIEWERS:
        assert whole(kept.seen(GAME, viewer)) == whole(views[viewer])
        assert whole(kept.seen(GAME, viewer, 2, 3)) == whole(views[viewer][2:5])
        assert kept.seen(GAME, viewer, len(log)) == []


def test_games_of_both_are_listed_once_each(at: At) -> None:
    play_out(at.ledger, at.referee)
    kept = Kept(at.ledger, Shelf(at.archive))
    leave(at)
    play_out(at.ledger, at.referee, OTHER)
    at.work()  # it is in both now
    assert kept.games() == [OTHER, GAME]
    assert kept.games(1) == [OTHER]


def test_a_game_that_there_never_was_is_in_neither(at: At) -> None:
    kept = Kept(at.ledger, Shelf(at.archive))
    assert kept.history(GAME) == []
    assert kept.seen(GAME, None) == []
    assert kept.games() == []


def test_without_an_archive_there_is_only_the_engine(at: At) -> None:
    submit(at.ledger, opening()[:1])
    at.referee.step(0)
    kept = Kept(at.ledger, None)
    assert len(kept.history(GAME)) == 1
    assert kept.games() == [GAME]
    assert kept.history(OTHER) == []


@pytest.mark.parametrize("wrong", [b"no file", b"ledgerline/log/1\n"])
def test_a_file_that_is_damaged_is_said_to_be(at: At, tmp_path: Path, wrong: bytes) -> None:
    archive = Archive(tmp_path.as_uri())
    archive.write(GAME, wrong)
    kept = Kept(at.ledger, Shelf(archive))
    for read in (lambda: kept.history(GAME), lambda: kept.seen(GAME, None)):
        with pytest.raises(Corrupt, match=GAME):
            read()


def test_P6_a_file_whose_log_was_changed_in_the_archive_is_shown_to_nobody(at: At) -> None:
    play_out(at.ledger, at.referee)
    leave(at)
    data = at.archive.read(GAME)
    assert data is not None
    told = read_file(data)
    form, when, *rest = unpack(told.entries[5])
    told.entries[5] = bytes(pack((form, when + 1, *rest)))
    at.archive.write(GAME, folded(bytes(pack(told._asdict()))))
    with pytest.raises(Corrupt, match="signed"):
        Kept(at.ledger, Shelf(at.archive)).seen(GAME, None)
