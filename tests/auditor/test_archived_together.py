"""Games that are due together are archived by one job, and none of them costs another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import ConnectionError as EngineAwayError

from services.archive import Archive, decode_game_file
from services.auditor import archive_job
from services.auditor.jobs import JOB_TYPES
from services.ledger.engine import keys
from services.ledger.log.game_indexes import ArchiveIndex
from tests.auditor.conftest import Server, auditor_at
from tests.auditor.given import play_out
from tests.auditor.test_jobs import given_back, killed
from tests.deploy.compose import wait_until
from tests.referee.running_referee import partition_of

GAMES = ("first", "second", "third")
DAMAGED = "second"


@pytest.fixture
def writes(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three games are over; the games that are written to the archive, one by one."""
    for game in GAMES:
        play_out(server.ledger, server.referee, game)
    written: list[str] = []
    write = Archive.write

    def noting(archive: Archive, game: str, data: bytes) -> None:
        write(archive, game, data)
        written.append(game)

    monkeypatch.setattr(Archive, "write", noting)
    return written


def try_again(server: Server) -> None:
    """Do the jobs that wait for their next try."""
    for job in server.auditor.jobs.list_jobs():
        server.client.zadd("rq:scheduled:ledgerline", {job.id: 0})
    server.auditor.maintain()
    while server.auditor.step():
        pass


def is_whole(server: Server, game: str) -> bool:
    return decode_game_file(server.archive.read(game) or b"").entries == server.ledger.read_entries(game)


def test_P9_games_that_are_due_together_are_archived_by_one_job(server: Server, writes: list[str]) -> None:
    assert server.auditor.enqueue_due() == 1
    [job] = server.auditor.jobs.list_jobs()
    assert (job.kind, sorted(map(str, job.about))) == ("archive-games", sorted(GAMES))
    server.work()
    assert sorted(writes) == sorted(GAMES)
    assert all(is_whole(server, game) for game in GAMES)
    assert server.auditor.jobs.list_jobs() == []


def test_P9_what_another_auditor_archived_meanwhile_is_not_done_again(
    server: Server, writes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.auditor.enqueue_due()
    monkeypatch.setattr(archive_job, "GAMES_PER_JOB", 2)
    other = auditor_at(server.client, server.ledger, server.archive, server.wall, "other")
    other.enqueue_due()
    assert len(server.auditor.jobs.list_jobs()) == 3  # of all three, of two of them, and of the third
    server.auditor.step()
    marked: list[str] = []
    monkeypatch.setattr(ArchiveIndex, "mark_archived", lambda _, game, *__: marked.append(game))
    while server.auditor.step():
        pass
    assert sorted(writes) == sorted(GAMES)
    assert len(marked) == 1  # by the job of one game, which doesn't look first
    other.deregister()


def test_P8_a_damaged_game_costs_only_itself_and_has_a_job_of_its_own(
    server: Server, writes: list[str]
) -> None:
    client: Any = server.client
    client.xdel(keys.log(partition_of(DAMAGED), DAMAGED), "3-0")
    server.work()
    assert sorted(writes) == sorted({*GAMES} - {DAMAGED})
    [job] = server.auditor.jobs.list_jobs()
    assert (job.id, job.state, job.tries) == (f"archive-{DAMAGED}", "later", 1)
    assert "MissingEntryError" in job.why
    again = auditor_at(server.client, server.ledger, server.archive, server.wall, "again")
    assert again.enqueue_due() == 0  # it knows of nothing, and the job that failed counts
    again.deregister()


def test_P7_a_job_that_is_cut_off_hands_on_what_is_left_and_repeats_nothing(
    server: Server, writes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive_game = archive_job.archive_game

    def cut_off(context: Any, game: str) -> None:
        if writes:
            raise EngineAwayError("cut off")
        archive_game(context, game)

    with monkeypatch.context() as away:
        away.setattr(archive_job, "archive_game", cut_off)
        server.auditor.enqueue_due()
        server.auditor.step()
    assert len(writes) == 1
    [job] = server.auditor.jobs.list_jobs()
    assert (job.kind, job.state) == ("archive-games", "later")
    try_again(server)
    assert sorted(writes) == sorted(GAMES)
    assert server.auditor.jobs.list_jobs() == []


def test_P8_a_game_that_always_ends_its_worker_ends_it_once_for_the_others(
    server: Server, writes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive_game = archive_job.archive_game

    def deadly(context: Any, game: str) -> None:
        if game == DAMAGED:
            raise EngineAwayError("it ends every worker")
        archive_game(context, game)

    monkeypatch.setattr(archive_job, "archive_game", deadly)
    monkeypatch.setitem(JOB_TYPES, "archive", JOB_TYPES["archive"]._replace(function=deadly))
    server.work()
    try_again(server)
    assert sorted(writes) == sorted({*GAMES} - {DAMAGED})
    [job] = server.auditor.jobs.list_jobs()
    assert job.id == f"archive-{DAMAGED}"


@pytest.mark.long
def test_P7_an_auditor_killed_amid_several_games_loses_none_and_files_each_once(
    server: Server, tmp_path: Path, writes: list[str]
) -> None:
    second_write = (
        "write = Archive.write\n"
        "def write_once(archive, game, data):\n"
        "    Archive.write = stop\n"
        "    write(archive, game, data)\n"
        "Archive.write = write_once\n"
        "JOB_TYPES['archive-games'] = JOB_TYPES['archive-games']._replace(timeout_s=5)"
    )
    killed(server, tmp_path, second_write, 0)
    [done] = server.archive.games()
    again = auditor_at(server.client, server.ledger, server.archive, server.wall, "again")
    wait_until(lambda: given_back(again))
    try_again(server)
    assert sorted(writes) == sorted({*GAMES} - {done})
    assert all(is_whole(server, game) for game in GAMES)
    assert server.auditor.jobs.list_jobs() == []
    again.deregister()
