"""What several folders of tests share: an engine, and a ledger on it and on fakeredis."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import fakeredis
import pytest
import redis
import structlog
from hypothesis import settings

import tests.fake_listening  # noqa: F401 - it stands in for the product's
from services.compiled_rules import rules_form
from services.ledger import RedisLedger
from services.ledger.engine import cluster as cluster_client
from services.ledger.engine.connection import CLUSTER_OPTIONS, connect, init_partition_count
from services.ledger.engine.embedded_engine import running_engine
from services.runtime.interpreter_tuning import YOUNG_GENERATION_THRESHOLD
from tests.cluster.nodes import cluster
from tests.known_to_redis_py import read_once
from tests.left_processes import end_multiprocessing, left_processes, mark_children
from tests.shipped import shipped  # noqa: F401 - a fixture of several folders
from tests.written_bytecode import write_bytecode

PARTITIONS = 4
BUSY_S = 60.0  # within which a node of a cluster answers, on a busy machine too
EXIT_S = 30  # within which what was killed is gone, on a busy machine too
ALL = range(PARTITIONS)
IN_MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 << 30  # a run has some hundred MB there
Connect = Callable[[], redis.Redis]

# The same examples in every run: few in the short one, many with `--hypothesis-profile=long`.
settings.register_profile("short", derandomize=True, deadline=None, database=None, max_examples=25)
settings.register_profile("long", settings.get_profile("short"), max_examples=50)
settings.load_profile("short")
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as a shell's `&` leaves it, for every child process too
    signal.signal(signal.SIGINT, signal.default_int_handler)


def to_bytes(_: object, __: str, line: Any) -> bytes:
    """The last of structlog's steps: a rendered line as bytes."""
    encoded: bytes = line.encode()
    return encoded


def log_bytes() -> None:
    """Have services on threads of a test log to the captured output's bytes. Its text layer isn't made for threads: where
    pytest read it while a gateway wrote a line, the interpreter ended with a segmentation fault."""
    rendered = structlog.get_config()["processors"]
    structlog.configure(
        processors=[*rendered, to_bytes],
        logger_factory=lambda *_: structlog.BytesLogger(sys.stdout.buffer),
    )


log_bytes()
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # jsonschema would compile 38 grammars of addresses for it, a second in each worker; no schema here names such a format
mark_children()
read_once()
gc.disable()  # while tests are collected: hardly anything is garbage, and each look through it all takes longer


def pytest_configure(config: pytest.Config) -> None:
    """What starts the workers of a parallel run writes byte code for all of them. Temporary folders are in memory where
    there is room: engines sync each write, and on a disk their tests took a third more CPU and twice the time."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        write_bytecode()
    if has_room_for_programs(IN_MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


def has_room_for_programs(folder: Path) -> bool:
    """Whether files can be written to it, many of them, and be run."""
    if not os.access(folder, os.W_OK):
        return False
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize >= ROOM_BYTES and not system.f_flag & os.ST_NOEXEC


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but never look through what the collection made."""
    gc.freeze()
    gc.set_threshold(YOUNG_GENERATION_THRESHOLD, 10, 10)
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where the rules are compiled (make fast), leave out the tests that replace a part of them: docs/how-to/compiled.md."""
    if rules_form().compiled:
        left_out = [item for item in items if item.get_closest_marker("pure_python")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Of what passed a worker sends neither its words nor its output, which nobody reads: a third of such a report's cost."""
    report = yield
    if report.passed:
        report.keywords, report.sections = {}, []
    return report


@pytest.fixture(scope="session", autouse=True)
def _no_process_is_left() -> Iterator[None]:
    """Fails the run, after all else is closed, where a test left a process; it names and ends them."""
    yield
    end_multiprocessing()
    end_s = time.monotonic() + EXIT_S
    while (left := left_processes()) and time.monotonic() < end_s:
        time.sleep(0.05)
    for process in left:
        with suppress(ProcessLookupError):
            os.kill(process.id, signal.SIGKILL)
    assert not left, "left by tests: " + "; ".join(map(str, left))


@pytest.fixture(scope="session")
def engine_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real engine: one that is given, or one of this process's own.

    The workers of a parallel run share a given one; each has a database there to itself."""
    given = os.environ.get("LEDGERLINE_TEST_REDIS_URL")
    if given:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
        yield f"{given.rstrip('/')}/{int(worker.removeprefix('gw'))}"
        return
    with running_engine(tmp_path_factory.mktemp("engine")) as url:
        yield url


@pytest.fixture(scope="session")
def cluster_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster of this process's own, of which no node dies: a busy machine makes nobody a replica."""
    with cluster(tmp_path_factory.mktemp("cluster"), timeout_ms=60_000) as formed:
        yield formed.url


@contextmanager
def nodes_may_be_slow() -> Iterator[None]:
    """Who connects to a cluster meanwhile counts no node as away because the machine is busy."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("socket_timeout", "socket_connect_timeout"):
            patch.setitem(CLUSTER_OPTIONS, name, BUSY_S)
        patch.setattr(cluster_client, "NODE_TIMEOUT_S", BUSY_S)
        yield


@pytest.fixture(params=["fake", "engine"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes connections to one empty store: fakeredis, then a real engine."""
    yield from connections_to(request)


def connections_to(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes connections to the store that the fixture's parameter names, emptied."""
    made: list[redis.Redis] = []
    server = fakeredis.FakeServer()
    url = "" if request.param == "fake" else request.getfixturevalue(f"{request.param}_url")

    def make() -> redis.Redis:
        made.append(connect(url) if url else fakeredis.FakeRedis(server=server))
        return made[-1]

    with nodes_may_be_slow():
        make().flushdb()
        yield make
        for client in made:
            client.close()


@pytest.fixture
def client(connection: Connect) -> Any:
    """The store as it is, for looking at keys from outside."""
    return connection()


@pytest.fixture
def ledger(connection: Connect) -> RedisLedger:
    client = connection()
    return RedisLedger(client, init_partition_count(client, PARTITIONS))


@pytest.fixture
def other_ledger(connection: Connect) -> RedisLedger:
    """The same store through a connection of its own, as another service has it."""
    client = connection()
    return RedisLedger(client, init_partition_count(client, PARTITIONS))
