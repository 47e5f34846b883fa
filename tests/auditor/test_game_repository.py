"""A game reads the same from the engine and, once evicted, from the archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.errors import CorruptDataError
from schemas.stored.entries import ShownBytes, ViewEntry, write_view_entry
from schemas.stored.rows import pack, unpack
from services.archive import Archive, compress_packed, decode_game_file
from services.verification.game_repository import FinishedGameReader, GameRepository
from tests.auditor.conftest import STAYS_S, Server
from tests.auditor.given import TRUSTED, play_out
from tests.referee.running_referee import GAME, opening_commands, submit

OTHER = "game-two"
VIEWERS = (None, 0, 1)


def archive_and_evict(server: Server, game: str = GAME) -> None:
    server.work()
    server.wall.now += round(STAYS_S * 1000)
    server.referee.evict()
    assert server.ledger.read_entries(game) == []


def whole(entries: list[ViewEntry]) -> list[tuple[object, ShownBytes]]:
    """All of a view: its entries, the bytes that they were read from, and the heads."""
    return [(write_view_entry(entry), entry.shown) for entry in entries]


def test_an_evicted_game_reads_as_before(server: Server) -> None:
    play_out(server.ledger, server.referee)
    repository = GameRepository(server.ledger, FinishedGameReader(server.archive, TRUSTED))
    log = repository.read_entries(GAME)
    views = {viewer: repository.read_view(GAME, viewer) for viewer in VIEWERS}
    archive_and_evict(server)
    assert repository.read_entries(GAME) == log
    assert repository.read_entries(GAME, 3) == log[3:]
    for viewer in VIEWERS:
        assert whole(repository.read_view(GAME, viewer)) == whole(views[viewer])
        assert whole(repository.read_view(GAME, viewer, 2, 3)) == whole(views[viewer][2:5])
        assert repository.read_view(GAME, viewer, len(log)) == []


def test_games_of_both_are_listed_once_each(server: Server) -> None:
    play_out(server.ledger, server.referee)
    repository = GameRepository(server.ledger, FinishedGameReader(server.archive, TRUSTED))
    archive_and_evict(server)
    play_out(server.ledger, server.referee, OTHER)
    server.work()  # it is in both now
    assert repository.games() == [OTHER, GAME]
    assert repository.games(1) == [OTHER]


def test_an_unknown_game_is_in_neither(server: Server) -> None:
    repository = GameRepository(server.ledger, FinishedGameReader(server.archive, TRUSTED))
    assert repository.read_entries(GAME) == []
    assert repository.read_view(GAME, None) == []
    assert repository.games() == []


def test_without_an_archive_there_is_only_the_engine(server: Server) -> None:
    submit(server.ledger, opening_commands()[:1])
    server.referee.step(0)
    repository = GameRepository(server.ledger, None)
    assert len(repository.read_entries(GAME)) == 1
    assert repository.games() == [GAME]
    assert repository.read_entries(OTHER) == []


@pytest.mark.parametrize("wrong", [b"no file", b"ledgerline/log/1\n"])
def test_a_damaged_file_is_reported(server: Server, tmp_path: Path, wrong: bytes) -> None:
    archive = Archive(tmp_path.as_uri())
    archive.write(GAME, wrong)
    repository = GameRepository(server.ledger, FinishedGameReader(archive, TRUSTED))
    for read in (lambda: repository.read_entries(GAME), lambda: repository.read_view(GAME, None)):
        with pytest.raises(CorruptDataError, match=GAME):
            read()


def test_P6_a_file_whose_log_was_changed_in_the_archive_is_not_shown(server: Server) -> None:
    play_out(server.ledger, server.referee)
    archive_and_evict(server)
    data = server.archive.read(GAME)
    assert data is not None
    file = decode_game_file(data)
    form, when, *rest = unpack(file.entries[5])
    file.entries[5] = bytes(pack((form, when + 1, *rest)))
    server.archive.write(GAME, compress_packed(bytes(pack(file.stored_fields()))))
    with pytest.raises(CorruptDataError, match="signed"):
        GameRepository(server.ledger, FinishedGameReader(server.archive, TRUSTED)).read_view(GAME, None)
