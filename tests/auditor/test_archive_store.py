"""Where finished games lie: the same promises in a folder and on S3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from schemas.errors import InvalidInputError
from services.archive import Archive, ArchiveUnavailableError
from tests.auditor.s3_bucket import a_bucket

GAME = "3f9a1c0b77e2"


@pytest.fixture(params=["folder", "s3"])
def archive(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Archive]:
    if request.param == "folder":
        yield Archive((tmp_path / "archive").as_uri())
        return
    yield Archive(a_bucket(request.getfixturevalue("s3"), monkeypatch))
    fsspec.get_filesystem_class("s3").clear_instance_cache()


def test_what_is_written_is_read_and_nothing_else_is_there(archive: Archive) -> None:
    assert archive.read(GAME) is None
    assert not archive.has(GAME)
    assert archive.games() == []
    archive.write(GAME, b"the whole game")
    assert archive.read(GAME) == b"the whole game"
    assert archive.has(GAME)
    assert archive.games() == [GAME]
    assert archive.read("another-game") is None


def test_writing_again_puts_the_new_in_the_place_of_the_old(archive: Archive) -> None:
    archive.write(GAME, b"600 entries")
    archive.write(GAME, b"601 entries, and more")
    assert archive.read(GAME) == b"601 entries, and more"
    assert archive.games() == [GAME]


def test_another_process_sees_at_once_what_was_written(archive: Archive) -> None:
    other = Archive(archive.url)
    assert not other.has(GAME)
    archive.write(GAME, b"the whole game")
    assert other.has(GAME)
    assert other.games() == [GAME]


@pytest.mark.parametrize("wrong", ["../../etc/passwd", "", "UPPER", "a/b", "x" * 41])
def test_what_is_no_game_is_not_there_and_cannot_be_written(archive: Archive, wrong: str) -> None:
    assert archive.read(wrong) is None
    assert not archive.has(wrong)
    with pytest.raises(InvalidInputError, match="game"):
        archive.write(wrong, b"")


def test_a_plain_path_is_a_folder_too(tmp_path: Path) -> None:
    Archive(str(tmp_path / "here")).write(GAME, b"x")
    assert Archive((tmp_path / "here").as_uri()).read(GAME) == b"x"


def test_a_write_that_was_cut_off_leaves_no_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(tmp_path.as_uri())

    def cut_off(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("services.archive.os.fsync", cut_off)
    with pytest.raises(ArchiveUnavailableError, match="No space left"):
        archive.write(GAME, b"half of it")
    assert archive.read(GAME) is None
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("url", ["nonsense://somewhere", "file://", "s3://"])
def test_a_place_where_nothing_can_lie_is_named(url: str) -> None:
    with pytest.raises(InvalidInputError, match="LEDGERLINE_ARCHIVE_URL"):
        Archive(url)


@pytest.mark.long
def test_a_store_that_does_not_answer_is_away_and_not_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    archive = Archive("s3://games")
    with pytest.raises(ArchiveUnavailableError, match="s3://games"):
        archive.read(GAME)
    with pytest.raises(ArchiveUnavailableError):
        archive.write(GAME, b"x")
    fsspec.get_filesystem_class("s3").clear_instance_cache()


def test_an_archive_that_is_gone_is_not_an_empty_one(archive: Archive, tmp_path: Path) -> None:
    """A folder that can't be written to, or a bucket that doesn't exist: the writer gets an error."""
    if archive.url.startswith("file:"):
        (tmp_path / "archive").write_text("a file in the folder's place")
        gone = archive
    else:
        gone = Archive("s3://no-such-bucket-anywhere")
    with pytest.raises(ArchiveUnavailableError):
        gone.write(GAME, b"x")


def test_names_lie_beside_a_game_and_leave_it_as_it_is_when_they_are_erased(archive: Archive) -> None:
    archive.write(GAME, b"the whole game")
    assert archive.read_names(GAME) is None
    archive.write_names(GAME, b"two names")
    archive.write_names(GAME, b"one name")
    assert Archive(archive.url).read_names(GAME) == b"one name"
    assert archive.games() == [GAME]
    for _ in range(2):
        archive.write_names(GAME, None)
        assert archive.read_names(GAME) is None
    assert archive.read(GAME) == b"the whole game"
    with pytest.raises(InvalidInputError, match="game"):
        archive.write_names("../up", b"")
