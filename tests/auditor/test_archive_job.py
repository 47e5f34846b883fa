"""P9: a finished game is archived, and only then evicted from the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schemas.stored.player_names import SaltedName, SaltedNames, by_commitment, unpack_names
from services.archive import Archive, build_statement, decode_game_file, encode_game_file, is_signed
from services.auditor import archive_job
from services.auditor.archive_job import archive_names
from services.auditor.job_queue import Jobs
from services.ledger.engine import keys
from services.verification.game_repository import FinishedGameReader, GameRepository
from tests.auditor.conftest import STAYS_S, Server
from tests.auditor.given import SIGNER, TRUSTED, play_out, played
from tests.auditor.s3_bucket import a_bucket
from tests.referee.running_referee import GAME, LOG, opening_commands, partition_of, submit

OTHER = "game-two"
LONG_MS = 40 * 86_400_000


def the_job(server: Server) -> Any:
    [job] = server.auditor.jobs.list_jobs()
    return job


def test_P9_a_finished_game_is_archived_and_evicted_an_hour_later(server: Server) -> None:
    client: Any = server.client
    empty = {*client.scan_iter()}
    play_out(server.ledger, server.referee)
    log = server.ledger.read_entries(GAME)

    server.work()

    file = decode_game_file(server.archive.read(GAME) or b"")
    assert (file.game, file.entries, file.number) == (GAME, log, len(log))
    assert is_signed(build_statement(GAME, file.number, file.head), file.signature, SIGNER.public_key)
    assert server.auditor.jobs.list_jobs() == []
    assert server.referee.evict() == 0
    server.wall.now += round(STAYS_S * 1000)
    assert server.referee.evict() == 1
    assert server.ledger.read_entries(GAME) == []
    left = [key for key in {*client.scan_iter()} - empty if not key.startswith(b"rq:")]
    assert {key.partition(b":")[2] for key in left} <= {b"commands", b"bot-tasks"}  # which all games share


def test_P9_a_game_whose_end_is_not_among_its_last_entries_is_archived(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_job, "LAST_ENTRIES", 0)
    play_out(server.ledger, server.referee)
    server.work()
    assert server.archive.has(GAME)


def test_the_file_has_the_head_of_the_chain(server: Server) -> None:
    play_out(server.ledger, server.referee)
    server.work()
    file = decode_game_file(server.archive.read(GAME) or b"")
    assert file.head == played().heads[-1]


def test_P9_a_finished_game_that_is_not_archived_stays_however_long_ago_it_ended(server: Server) -> None:
    play_out(server.ledger, server.referee)
    for _ in range(3):
        server.wall.now += LONG_MS
        assert server.referee.evict() == 1  # it was checked, and kept
        assert server.ledger.read_entries(GAME)
    server.work()
    server.wall.now += LONG_MS
    server.referee.evict()
    assert not server.ledger.read_entries(GAME)


def test_P9_a_game_that_was_never_started_is_evicted_without_being_archived(server: Server) -> None:
    submit(server.ledger, opening_commands()[:1])
    server.referee.step(0)
    server.work()
    assert not server.archive.has(GAME)
    server.wall.now += LONG_MS
    server.referee.evict()
    assert not server.ledger.read_entries(GAME)


def test_a_running_game_is_not_archived(server: Server) -> None:
    submit(server.ledger, opening_commands())
    while server.referee.step(0):
        pass
    server.work()
    assert not server.archive.has(GAME)


def test_a_game_that_is_archived_in_part_stays_until_all_of_it_is(server: Server) -> None:
    play_out(server.ledger, server.referee)
    log, heads = server.ledger.read_entries(GAME), played().heads
    server.archive.write(GAME, encode_game_file(GAME, log[:-1], heads[:-1], SIGNER))
    server.ledger.archive_index().mark_archived(GAME, len(log) - 1, server.wall.now)
    server.referee.evict()
    assert server.ledger.read_entries(GAME) == log
    server.work()
    assert decode_game_file(server.archive.read(GAME) or b"").entries == log
    assert server.ledger.archive_index().archived_length(GAME) == len(log)


def test_an_archive_that_cannot_be_written_leaves_the_game_and_is_reported(
    server: Server, tmp_path: Path
) -> None:
    (tmp_path / "archive").write_text("a file in the folder's place")
    play_out(server.ledger, server.referee)

    server.work()

    job = the_job(server)
    assert (job.id, job.state, job.kind, job.about, job.tries) == (
        f"archive-{GAME}",
        "later",
        "archive",
        [GAME],
        1,
    )
    assert "ArchiveUnavailableError" in job.why
    server.wall.now += LONG_MS
    server.referee.evict()
    assert server.ledger.read_entries(GAME)
    (tmp_path / "archive").unlink()
    server.auditor.jobs.retry(job.id)
    server.work()
    assert server.archive.has(GAME)
    assert server.auditor.jobs.list_jobs() == []


def test_a_file_that_does_not_read_back_as_written_is_not_archived(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_out(server.ledger, server.referee)
    write = Archive.write
    with monkeypatch.context() as patch:
        patch.setattr(Archive, "write", lambda self, game, data: write(self, game, data[:-1]))
        server.work()
    assert "read back" in the_job(server).why
    assert server.ledger.archive_index().archived_length(GAME) == 0


def test_another_game_in_the_archive_is_not_overwritten(server: Server) -> None:
    other = played()._replace(log=[b"another log"], heads=[bytes(32)])
    stored = encode_game_file(*other, SIGNER)
    server.archive.write(GAME, stored)
    play_out(server.ledger, server.referee)
    server.work()
    assert "don't continue" in the_job(server).why
    assert server.archive.read(GAME) == stored
    assert server.ledger.read_entries(GAME)


def test_P8_a_damaged_game_stops_no_other(server: Server) -> None:
    for game in (GAME, OTHER):
        play_out(server.ledger, server.referee, game)
    damaged: Any = server.client
    damaged.xdel(LOG, "3-0")
    server.work()
    assert server.archive.has(OTHER)
    assert not server.archive.has(GAME)
    assert the_job(server).about == [GAME]
    assert "MissingEntryError" in the_job(server).why


def test_P6_a_game_whose_heads_do_not_follow_from_its_entries_is_not_signed(server: Server) -> None:
    play_out(server.ledger, server.referee)
    damaged: Any = server.client
    public = keys.public_view(partition_of(GAME), GAME)
    file = dict(damaged.xrange(public))
    damaged.delete(public)
    file[b"4-0"][b"h"] = bytes(32)
    for id_, fields in file.items():
        damaged.xadd(public, fields, id_)
    server.work()
    assert "entry 4 of game-one has another head" in the_job(server).why
    assert not server.archive.has(GAME)


def test_P6_a_game_whose_last_head_does_not_follow_from_its_entries_is_not_signed(server: Server) -> None:
    play_out(server.ledger, server.referee)
    length, _ = server.ledger.head(GAME)
    client: Any = server.client
    client.set(keys.chain_head(partition_of(GAME), GAME), b"%d " % length + bytes(32))
    server.work()
    assert f"entry {length} of game-one has another head" in the_job(server).why
    assert not server.archive.has(GAME)


def test_a_game_is_archived_on_s3(server: Server, s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(a_bucket(s3, monkeypatch))
    server.auditor.context = server.auditor.finished_games.context = server.auditor.context._replace(
        archive=archive
    )
    play_out(server.ledger, server.referee)
    log = server.ledger.read_entries(GAME)
    server.work()
    server.wall.now += round(STAYS_S * 1000)
    server.referee.evict()
    assert not server.ledger.read_entries(GAME)
    assert (
        GameRepository(server.ledger, FinishedGameReader(Archive(archive.url), TRUSTED)).read_entries(GAME)
        == log
    )


def test_a_job_that_is_done_twice_changes_nothing(server: Server) -> None:
    play_out(server.ledger, server.referee)
    server.work()
    before = server.archive.read(GAME)
    assert server.auditor.jobs.enqueue("archive", GAME, GAME)
    server.work()
    assert server.archive.read(GAME) == before
    assert server.auditor.jobs.list_jobs() == []


def test_a_job_for_an_evicted_game_ends_without_an_error(server: Server) -> None:
    Jobs(server.client).enqueue("archive", "gone", "gone")
    server.work()
    assert server.auditor.jobs.list_jobs() == []


def test_a_name_that_is_erased_while_its_game_is_archived_does_not_come_back(server: Server) -> None:
    ada, bo = SaltedName(bytes(32), "Ada"), SaltedName(bytes(32), "Bo")

    class ErasedMeanwhile:
        """The engine of which Ada is erased after the job has read her name."""

        def __init__(self) -> None:
            self.answers = iter([(ada, bo), (bo,), (bo,)])

        def read_names(self, game: str) -> SaltedNames:
            return by_commitment(next(self.answers))

    archive_names(ErasedMeanwhile(), server.archive, GAME)
    assert unpack_names(server.archive.read_names(GAME) or b"") == by_commitment([bo])
    archive_names(server.ledger, server.archive, GAME)
    assert server.archive.read_names(GAME) is None
