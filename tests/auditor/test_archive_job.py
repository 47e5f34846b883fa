"""P9: a finished game goes into the archive, and only then out of the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.archive import Archive, build_statement, decode_game_file, encode_game_file, is_signed
from services.auditor.jobs import Jobs
from services.ledger import keys
from services.verification.game_repository import ArchiveReader, GameRepository
from tests.auditor.conftest import STAYS_S, At
from tests.auditor.given import SIGNER, play_out, played
from tests.auditor.s3_bucket import a_bucket
from tests.referee.running_referee import GAME, LOG, opening_commands, partition_of, submit

OTHER = "game-two"
LONG_MS = 40 * 86_400_000


def the_job(at: At) -> Any:
    [job] = at.auditor.jobs.list_jobs()
    return job


def test_P9_a_finished_game_is_archived_and_leaves_an_hour_later(at: At) -> None:
    client: Any = at.client
    empty = {*client.scan_iter()}
    play_out(at.ledger, at.referee)
    log = at.ledger.read_entries(GAME)

    at.work()

    file = decode_game_file(at.archive.read(GAME) or b"")
    assert (file.game, file.entries, file.number) == (GAME, log, len(log))
    assert is_signed(build_statement(GAME, file.number, file.head), file.signature, SIGNER.public_key)
    assert at.auditor.jobs.list_jobs() == []
    assert at.referee.evict() == 0
    at.wall.now += round(STAYS_S * 1000)
    assert at.referee.evict() == 1
    assert at.ledger.read_entries(GAME) == []
    left = [key for key in {*client.scan_iter()} - empty if not key.startswith(b"rq:")]
    assert {key.partition(b":")[2] for key in left} <= {b"commands", b"turns"}  # which are everybody's


def test_the_file_is_the_one_that_the_chain_makes(at: At) -> None:
    play_out(at.ledger, at.referee)
    at.work()
    file = decode_game_file(at.archive.read(GAME) or b"")
    assert file.head == played().heads[-1]


def test_P9_a_finished_game_that_is_not_archived_stays_however_long_ago_it_ended(at: At) -> None:
    play_out(at.ledger, at.referee)
    for _ in range(3):
        at.wall.now += LONG_MS
        assert at.referee.evict() == 1  # it was looked at
        assert at.ledger.read_entries(GAME)
    at.work()
    at.wall.now += LONG_MS
    at.referee.evict()
    assert not at.ledger.read_entries(GAME)


def test_P9_a_game_that_was_never_started_is_not_archived_and_leaves_in_time(at: At) -> None:
    submit(at.ledger, opening_commands()[:1])
    at.referee.step(0)
    at.work()
    assert not at.archive.has(GAME)
    at.wall.now += LONG_MS
    at.referee.evict()
    assert not at.ledger.read_entries(GAME)


def test_a_game_that_is_played_is_not_archived(at: At) -> None:
    submit(at.ledger, opening_commands())
    while at.referee.step(0):
        pass
    at.work()
    assert not at.archive.has(GAME)


def test_a_game_of_which_only_a_part_is_archived_stays_until_all_of_it_is(at: At) -> None:
    play_out(at.ledger, at.referee)
    log, heads = at.ledger.read_entries(GAME), played().heads
    at.archive.write(GAME, encode_game_file(GAME, log[:-1], heads[:-1], SIGNER))
    at.ledger.archive_index().mark_archived(GAME, len(log) - 1, at.wall.now)
    at.referee.evict()
    assert at.ledger.read_entries(GAME) == log
    at.work()
    assert decode_game_file(at.archive.read(GAME) or b"").entries == log
    assert at.ledger.archive_index().archived_length(GAME) == len(log)


def test_an_archive_that_cannot_be_written_leaves_the_game_and_says_so(at: At, tmp_path: Path) -> None:
    (tmp_path / "archive").write_text("a file in the folder's place")
    play_out(at.ledger, at.referee)

    at.work()

    job = the_job(at)
    assert (job.id, job.state, job.kind, job.about, job.tries) == (
        f"archive-{GAME}",
        "later",
        "archive",
        [GAME],
        1,
    )
    assert "ArchiveUnavailableError" in job.why
    at.wall.now += LONG_MS
    at.referee.evict()
    assert at.ledger.read_entries(GAME)
    (tmp_path / "archive").unlink()
    at.auditor.jobs.retry(job.id)
    at.work()
    assert at.archive.has(GAME)
    assert at.auditor.jobs.list_jobs() == []


def test_what_was_not_read_back_as_it_was_written_is_not_archived(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_out(at.ledger, at.referee)
    write = Archive.write
    with monkeypatch.context() as patch:
        patch.setattr(Archive, "write", lambda self, game, data: write(self, game, data[:-1]))
        at.work()
    assert "read back" in the_job(at).why
    assert at.ledger.archive_index().archived_length(GAME) == 0


def test_another_game_in_the_archive_is_not_written_over(at: At) -> None:
    other = played()._replace(log=[b"another log"], heads=[bytes(32)])
    there = encode_game_file(*other, SIGNER)
    at.archive.write(GAME, there)
    play_out(at.ledger, at.referee)
    at.work()
    assert "don't continue" in the_job(at).why
    assert at.archive.read(GAME) == there
    assert at.ledger.read_entries(GAME)


def test_P8_a_game_that_is_damaged_stops_no_other(at: At) -> None:
    for game in (GAME, OTHER):
        play_out(at.ledger, at.referee, game)
    damaged: Any = at.client
    damaged.xdel(LOG, "3-0")
    at.work()
    assert at.archive.has(OTHER)
    assert not at.archive.has(GAME)
    assert the_job(at).about == [GAME]
    assert "MissingEntryError" in the_job(at).why


def test_P6_a_game_whose_heads_do_not_follow_from_its_entries_is_not_signed(at: At) -> None:
    play_out(at.ledger, at.referee)
    damaged: Any = at.client
    public = keys.public_view(partition_of(GAME), GAME)
    file = dict(damaged.xrange(public))
    damaged.delete(public)
    file[b"4-0"][b"h"] = bytes(32)
    for id_, fields in file.items():
        damaged.xadd(public, fields, id_)
    at.work()
    assert "head that was sent with entry 4" in the_job(at).why
    assert not at.archive.has(GAME)


def test_a_game_is_archived_on_s3(at: At, s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(a_bucket(s3, monkeypatch))
    at.auditor.context = at.auditor.finished_games.context = at.auditor.context._replace(archive=archive)
    play_out(at.ledger, at.referee)
    log = at.ledger.read_entries(GAME)
    at.work()
    at.wall.now += round(STAYS_S * 1000)
    at.referee.evict()
    assert not at.ledger.read_entries(GAME)
    assert GameRepository(at.ledger, ArchiveReader(Archive(archive.url))).read_entries(GAME) == log


def test_a_job_that_is_done_twice_does_no_harm(at: At) -> None:
    play_out(at.ledger, at.referee)
    at.work()
    before = at.archive.read(GAME)
    assert at.auditor.jobs.enqueue("archive", GAME, GAME)
    at.work()
    assert at.archive.read(GAME) == before
    assert at.auditor.jobs.list_jobs() == []


def test_a_job_about_a_game_that_left_is_done(at: At) -> None:
    Jobs(at.client).enqueue("archive", "gone", "gone")
    at.work()
    assert at.auditor.jobs.list_jobs() == []
