"""P7: the embedded engine keeps what was written, and one folder never has two of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis.exceptions import OutOfMemoryError

from services.ledger import AppendResult, AppendStatus, RedisLedger
from services.ledger.engine.connection import EngineUnavailableError, connect, init_partition_count
from services.ledger.engine.embedded_engine import ANSWER_S, kill_if_silent, running_engine, why_ended
from services.ledger.engine.engine_watcher import STOP_S
from tests.ledger_contract.given import GAME, append_request, envelope_of, submit_and_take


def pid(data: Path) -> int:
    found: int = json.loads((data / "engine.json").read_text())["pid"]
    return found


def is_there(process: int) -> bool:
    """Whether the process runs; a zombie doesn't."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def end(process: int) -> None:
    """Kill an engine and wait until it is gone; as its parent, also wait for it."""
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def append(url: str, first: int, last: int) -> None:
    with connect(url) as client:
        ledger = RedisLedger(client, init_partition_count(client, 4))
        for number in range(first, last + 1):
            ledger.append([append_request(expected=number - 1, id_=f"c{number}")])


def entries(url: str) -> int:
    with connect(url) as client:
        return len(RedisLedger(client, init_partition_count(client)).read_entries(GAME))


def test_P7_what_was_written_survives_a_stop_and_a_start(tmp_path: Path) -> None:
    with running_engine(tmp_path) as url:
        append(url, 1, 5)
        first = pid(tmp_path)
    assert not is_there(first)
    with running_engine(tmp_path) as url:
        assert pid(tmp_path) != first
        assert entries(url) == 5
        append(url, 6, 7)
        assert entries(url) == 7


def test_P3_a_second_opener_gets_the_same_engine(tmp_path: Path) -> None:
    with running_engine(tmp_path) as url:
        running = pid(tmp_path)
        with running_engine(tmp_path) as again:
            assert again == url
            assert pid(tmp_path) == running
        append(url, 1, 1)  # the first still has it when the second has left
        assert entries(url) == 1


def test_P3_the_last_to_leave_stops_the_engine(tmp_path: Path) -> None:
    first, second = running_engine(tmp_path), running_engine(tmp_path)
    url = first.__enter__()
    running = pid(tmp_path)
    second.__enter__()
    first.__exit__(None, None, None)
    append(url, 1, 1)
    second.__exit__(None, None, None)
    assert not is_there(running)


def test_P7_a_killed_engine_keeps_what_was_fsynced(tmp_path: Path) -> None:
    with running_engine(tmp_path, appendfsync="always") as url:
        append(url, 1, 50)
        end(pid(tmp_path))
        with running_engine(tmp_path, appendfsync="always") as again:
            assert entries(again) == 50
            append(again, 51, 51)
            assert entries(again) == 51


PARENT = """
import sys, time
from pathlib import Path
from services.ledger.engine.embedded_engine import running_engine
with running_engine(Path(sys.argv[1])):
    print("open", flush=True)
    time.sleep(60)
"""


@contextmanager
def parent_of_engine(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has opened the folder."""
    with subprocess.Popen([sys.executable, "-c", PARENT, str(data)], stdout=subprocess.PIPE) as parent:
        try:
            assert parent.stdout is not None
            assert parent.stdout.readline() == b"open\n"
            yield parent
        finally:
            parent.kill()


def wait_until_gone(process: int) -> None:
    deadline_s = time.monotonic() + 30
    while is_there(process):
        if time.monotonic() > deadline_s:
            os.kill(process, signal.SIGKILL)
            raise AssertionError("it goes on")
        time.sleep(0.01)


@pytest.mark.long
def test_P7_an_engine_whose_parent_was_killed_ends_soon(tmp_path: Path) -> None:
    with parent_of_engine(tmp_path):
        left = pid(tmp_path)
    wait_until_gone(left)
    with running_engine(tmp_path) as url:
        append(url, 1, 1)


@pytest.mark.long
def test_P7_an_engine_whose_parent_was_killed_goes_on_while_others_use_it(tmp_path: Path) -> None:
    with parent_of_engine(tmp_path) as first:
        left = pid(tmp_path)
        with parent_of_engine(tmp_path):
            with running_engine(tmp_path) as url:
                first.kill()
                append(url, 1, 1)
                assert pid(tmp_path) == left
            assert is_there(left)
    wait_until_gone(left)


def test_P7_a_folder_that_is_deleted_takes_its_engine_with_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running_engine(data):
        running = pid(data)
        assert why_ended(data) == ""
        shutil.rmtree(data)
        assert why_ended(data) == (
            f"the data folder {data} was deleted while the server ran, and its games with it"
        )
        data.mkdir()  # by whoever writes there next
        assert "was deleted" in why_ended(data)
    assert not is_there(running)


FULL = """
import json, os, resource, signal, sys
from pathlib import Path
from services.ledger.engine.embedded_engine import running_engine, why_ended
data = Path(sys.argv[1])
with running_engine(data):
    engine = json.loads((data / "engine.json").read_text())["pid"]
    os.kill(engine, signal.SIGKILL)
    os.waitpid(engine, 0)
    print(why_ended(data))
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # a file takes no more, as on a full disk
    print(why_ended(data))
try:
    running_engine(data).__enter__()
except Exception as error:
    print(type(error).__name__, error)
"""


def test_P8_a_full_disk_is_named_and_no_engine_is_started_that_would_end_at_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    with_room, without_room, again = done.stdout.splitlines()
    assert with_room.endswith("start again, and every game goes on from its log")
    reason = f"the disk of the data folder {tmp_path} takes no more (File too large): make room"
    assert without_room.startswith(f"the engine ended: {reason}")
    assert again.startswith(f"EngineUnavailableError {reason}")


@pytest.mark.long
def test_P7_an_engine_that_stands_still_is_killed_when_it_is_to_stop(tmp_path: Path) -> None:
    with running_engine(tmp_path) as url:
        append(url, 1, 1)
        running = pid(tmp_path)
        kill_if_silent(tmp_path, url)
        assert is_there(running), "it answers"
        os.kill(running, signal.SIGSTOP)
    assert not is_there(running)
    with running_engine(tmp_path) as url:
        assert entries(url) == 1
        running = pid(tmp_path)
        os.kill(running, signal.SIGSTOP)
        kill_if_silent(tmp_path, url)
        wait_until_gone(running)
    assert STOP_S + ANSWER_S < 10


def test_a_folder_that_is_a_file_gives_the_reason(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(EngineUnavailableError, match="can't be used"), running_engine(tmp_path / "taken"):
        pass


def test_an_engine_that_can_not_start_gives_the_reason_of_its_log(tmp_path: Path) -> None:
    with (
        pytest.raises(EngineUnavailableError, match=r"can't start in .*"),
        running_engine(tmp_path, appendfsync="whenever"),
    ):
        pass


@pytest.mark.long
def test_P3_an_engine_that_is_slow_to_answer_is_waited_for_not_doubled(tmp_path: Path) -> None:
    with running_engine(tmp_path) as url:
        append(url, 1, 1)
        first = pid(tmp_path)
        os.kill(first, signal.SIGSTOP)
        threading.Timer(3.0, os.kill, (first, signal.SIGCONT)).start()
        with running_engine(tmp_path) as again:
            assert (again, pid(tmp_path)) == (url, first)
            assert entries(again) == 1


def test_P8_an_engine_that_is_full_harms_no_log(tmp_path: Path) -> None:
    """It writes nothing, raises, and goes on where it stopped when there is room again."""
    with running_engine(tmp_path) as url, connect(url) as client:
        ledger = RedisLedger(client, init_partition_count(client, 4))
        append(url, 1, 3)
        client.config_set("maxmemory", 1)
        for _ in range(2):
            with pytest.raises(OutOfMemoryError):
                ledger.append([append_request(expected=3, id_="c4")])
        client.config_set("maxmemory", 0)
        assert ledger.append([append_request(expected=3, id_="c4")]) == [
            AppendResult(AppendStatus.APPENDED, 4)
        ]
        assert len(ledger.read_view(GAME, None)) == 4


def test_P1_commands_that_a_full_engine_cannot_answer_are_not_counted_as_delivered(tmp_path: Path) -> None:
    """It isn't for them that there is no room: they must not become dead letters."""
    with running_engine(tmp_path) as url, connect(url) as client:
        ledger = RedisLedger(client, init_partition_count(client, 4))
        [delivery] = submit_and_take(ledger, envelope_of("c1"))
        client.config_set("maxmemory", 1)
        for _ in range(12):
            with pytest.raises(OutOfMemoryError):
                ledger.append([append_request(delivery)])
            [delivery] = ledger.commands.reclaim("two", range(4), 0)
        assert delivery.delivery_count <= 2
        client.config_set("maxmemory", 0)
        assert ledger.append([append_request(delivery)]) == [AppendResult(AppendStatus.APPENDED, 1)]
