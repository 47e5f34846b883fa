"""A game is read the same whether it is in the engine or has left for the archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.entries import ShownBytes, ViewEntry, write_view_entry
from schemas.errors import CorruptDataError
from schemas.rows import pack, unpack
from services.archive import Archive, decode_game_file
from services.archive.game_file import compress_packed
from services.verification.game_repository import ArchiveReader, GameRepository
from tests.auditor.conftest import STAYS_S, At
from tests.auditor.given import play_out
from tests.referee.running_referee import GAME, opening_commands, submit

OTHER = "game-two"
VIEWERS = (None, 0, 1)


def leave(at: At, game: str = GAME) -> None:
    """A game is archived, and leaves the engine."""
    at.work()
    at.wall.now += round(STAYS_S * 1000)
    at.referee.evict()
    assert at.ledger.read_entries(game) == []


def whole(entries: list[ViewEntry]) -> list[tuple[object, ShownBytes]]:
    """All of a view: what it tells, the bytes it was read from, and the heads."""
    return [(write_view_entry(entry), entry.shown) for entry in entries]


def test_a_game_that_has_left_is_read_as_it_was(at: At) -> None:
    play_out(at.ledger, at.referee)
    kept = GameRepository(at.ledger, ArchiveReader(at.archive))
    log = kept.read_entries(GAME)
    views = {viewer: kept.read_view(GAME, viewer) for viewer in VIEWERS}
    leave(at)
    assert kept.read_entries(GAME) == log
    assert kept.read_entries(GAME, 3) == log[3:]
    for viewer in VIEWERS:
        assert whole(kept.read_view(GAME, viewer)) == whole(views[viewer])
        assert whole(kept.read_view(GAME, viewer, 2, 3)) == whole(views[viewer][2:5])
        assert kept.read_view(GAME, viewer, len(log)) == []


def test_games_of_both_are_listed_once_each(at: At) -> None:
    play_out(at.ledger, at.referee)
    kept = GameRepository(at.ledger, ArchiveReader(at.archive))
    leave(at)
    play_out(at.ledger, at.referee, OTHER)
    at.work()  # it is in both now
    assert kept.games() == [OTHER, GAME]
    assert kept.games(1) == [OTHER]


def test_a_game_that_there_never_was_is_in_neither(at: At) -> None:
    kept = GameRepository(at.ledger, ArchiveReader(at.archive))
    assert kept.read_entries(GAME) == []
    assert kept.read_view(GAME, None) == []
    assert kept.games() == []


def test_without_an_archive_there_is_only_the_engine(at: At) -> None:
    submit(at.ledger, opening_commands()[:1])
    at.referee.step(0)
    kept = GameRepository(at.ledger, None)
    assert len(kept.read_entries(GAME)) == 1
    assert kept.games() == [GAME]
    assert kept.read_entries(OTHER) == []


@pytest.mark.parametrize("wrong", [b"no file", b"ledgerline/log/1\n"])
def test_a_file_that_is_damaged_is_reported(at: At, tmp_path: Path, wrong: bytes) -> None:
    archive = Archive(tmp_path.as_uri())
    archive.write(GAME, wrong)
    kept = GameRepository(at.ledger, ArchiveReader(archive))
    for read in (lambda: kept.read_entries(GAME), lambda: kept.read_view(GAME, None)):
        with pytest.raises(CorruptDataError, match=GAME):
            read()


def test_P6_a_file_whose_log_was_changed_in_the_archive_is_shown_to_nobody(at: At) -> None:
    play_out(at.ledger, at.referee)
    leave(at)
    data = at.archive.read(GAME)
    assert data is not None
    file = decode_game_file(data)
    form, when, *rest = unpack(file.entries[5])
    file.entries[5] = bytes(pack((form, when + 1, *rest)))
    at.archive.write(GAME, compress_packed(bytes(pack(file._asdict()))))
    with pytest.raises(CorruptDataError, match="signed"):
        GameRepository(at.ledger, ArchiveReader(at.archive)).read_view(GAME, None)
