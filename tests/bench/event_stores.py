"""The workloads of pyeventsourcing/eventstore-benchmarks, on our ledger and on the event stores that a package brings.

Events of 256 bytes go to 10,000 streams, each equally likely, one at a time, with the version that the writer expects of
the stream: by one writer, and by four, each a process with a connection of its own. A reader reads whole streams of ten.
What is answered is on disk in all of them: ours has AOF `always`; `eventsourcing` has SQLite with a WAL and its default of
a sync at each commit; umadb syncs before it answers. umadb counts only where its wheel is installed (pip install umadb).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteAggregateRecorder, SQLiteDatastore

from schemas.stored.codec import Proofs, pack_public
from schemas.stored.hash_chain import initial_head, next_head
from schemas.stored.rows import VisibilitySplit, event_to_row
from schemas.trains.events import CardDrawn
from services.gateway.server import open_listener
from services.ledger import AppendRequest, AppendStatus, Delivery, RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from tests.bench.figure import Figure, Part, Report, Size
from tests.bench.games import fresh_engine
from tests.ledger_contract.given import DIGEST, NOON, secret_of

# An entry as our log has it, for a read looks into it; of 256 bytes.
ROW: Final = event_to_row(CardDrawn(0, "x" * 237))
PAYLOAD: Final = pack_public(NOON, VisibilitySplit((ROW,), {}, {}), Proofs(b""))
assert len(PAYLOAD) == 256
STREAMS: Final = 10_000
WRITERS: Final = 4
READ: Final = 10  # events of a stream that is read


class Store(Protocol):
    """A connection to an event store."""

    def append(self, stream: int, version: int) -> None:
        """Append an event to a stream that has so many. Raises if it hasn't."""
        ...

    def read(self, stream: int) -> int:
        """Read a whole stream; returns how many events it has."""
        ...


class Ledgerline:
    """Our ledger: an append writes the log, the public view, the chain's head and the command's result."""

    def __init__(self, url: str) -> None:
        client = connect(url)
        self.ledger = RedisLedger(client, init_partition_count(client))
        self.heads: dict[int, bytes] = {}

    def append(self, stream: int, version: int) -> None:
        game, number = f"stream-{stream}", version + 1
        before = self.heads.get(stream) or initial_head(game)
        self.heads[stream] = head = next_head(before, number, PAYLOAD)
        [result] = self.ledger.append(
            [
                AppendRequest(
                    Delivery(self.ledger.partition_of(game), "", b""),
                    game,
                    expected_length=version,
                    previous_head=before,
                    sender=0,
                    command_id=f"c{number}",
                    command_digest=DIGEST,
                    at_ms=NOON,
                    secret=secret_of("c"),
                    public=PAYLOAD,
                    head=head,
                    private_parts=(),
                    tasks=(),
                    deadline_ms=None,
                )
            ]
        )
        assert result.status is AppendStatus.APPENDED, result

    def read(self, stream: int) -> int:
        return len(self.ledger.read_view(f"stream-{stream}", None, 0))


class EventSourcing:
    """PyPI eventsourcing's recorder on SQLite."""

    def __init__(self, path: str) -> None:
        self.recorder = SQLiteAggregateRecorder(SQLiteDatastore(path, lock_timeout=60))
        self.recorder.create_table()

    def append(self, stream: int, version: int) -> None:
        self.recorder.insert_events([StoredEvent(UUID(int=stream + 1), version + 1, "test", PAYLOAD)])

    def read(self, stream: int) -> int:
        return len(self.recorder.select_events(UUID(int=stream + 1)))


class Umadb:
    """umadb, whose streams are tags: no event of the stream may follow the last one that the writer knows."""

    def __init__(self, url: str) -> None:
        self.umadb: Any = import_module("umadb")
        self.client, self.last = self.umadb.Client(url), dict[int, int]()

    def _query(self, stream: int) -> Any:
        return self.umadb.Query([self.umadb.QueryItem(tags=[f"stream-{stream}"])])

    def append(self, stream: int, version: int) -> None:
        condition = self.umadb.AppendCondition(self._query(stream), self.last.get(stream))
        event = self.umadb.Event("test", PAYLOAD, tags=[f"stream-{stream}"])
        self.last[stream] = self.client.append([event], condition)

    def read(self, stream: int) -> int:
        return sum(1 for _ in self.client.read(self._query(stream)))


@contextmanager
def sqlite_file() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        yield str(Path(folder) / "events.db")


@contextmanager
def umadb_server() -> Iterator[str]:
    """A server that the package brings, in a process of its own; yields its URL."""
    with open_listener("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    program = "from umadb.umadb_server_cli import main; main()"
    with TemporaryDirectory() as folder:
        options = ["--listen", f"127.0.0.1:{port}", "--db-path", str(Path(folder) / "uma.db")]
        with subprocess.Popen([sys.executable, "-c", program, *options], stdout=subprocess.DEVNULL) as server:
            try:
                url, limit = f"http://127.0.0.1:{port}", monotonic() + 30
                while not _answers(url):
                    assert server.poll() is None and monotonic() < limit, "umadb doesn't start"
                    sleep(0.1)
                yield url
            finally:
                server.kill()


def _answers(url: str) -> bool:
    try:
        Umadb(url).client.head()
    except Exception:
        return False
    return True


class Kind(NamedTuple):
    """An event store: what connects to it, and what runs it."""

    connect: Callable[[str], Store]
    running: Callable[[], Any]


KINDS: Final[Mapping[str, Kind]] = {
    "ledgerline": Kind(Ledgerline, partial(fresh_engine, appendfsync="always")),
    "eventsourcing": Kind(EventSourcing, sqlite_file),
    "umadb": Kind(Umadb, umadb_server),
}


def measure(size: Size, report: Report) -> Figure:
    seconds, rounds = (0.3, 1) if size.quick else (3.0, 3)
    parts: dict[str, Part] = {}
    kinds = [name for name in KINDS if name != "umadb" or find_spec("umadb")]
    rates: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds):
        for name in kinds:
            report(f"round {number + 1} of {rounds}: {name}")
            for workload, rate in rates_of(name, seconds, size.of(40, 4)).items():
                rates.setdefault((name, workload), []).append(rate)
    parts |= {f"{name}, {workload}_per_s": found for (name, workload), found in rates.items()}
    texts = [
        f"{name} {', '.join(f'{median(rates[name, each]):,.0f}' for each in ('one writer', 'writers', 'read'))}"
        for name in kinds
    ]
    return Figure(
        f"events a second with an expected version, synced: appended by one writer, by {WRITERS}; read by streams of {READ}",
        "; ".join(texts) + ("" if "umadb" in kinds else "; umadb isn't installed"),
        "reported",
        None,
        parts,
    )


def rates_of(name: str, seconds: float, streams: int) -> dict[str, float]:
    """Events a second of each workload, on a new store."""
    kind = KINDS[name]
    with kind.running() as where:
        store = kind.connect(where)
        for stream in range(streams):
            for version in range(READ):
                store.append(stream, version)
        reads, rng, start = 0, Random(0), perf_counter()
        while (elapsed := perf_counter() - start) < seconds:
            found = store.read(rng.randrange(streams))
            assert found == READ, f"{found} events of {READ}"
            reads += found
        rates = {"read": reads / elapsed}
        with get_context("spawn").Pool(WRITERS) as pool:
            pool.map(sleep, [0.1] * WRITERS, 1)  # they have started
            for workload, writers in (("one writer", 1), ("writers", WRITERS)):
                begin = STREAMS * (1 + writers)  # streams of its own
                found_rates = pool.starmap(
                    write, [(name, where, begin + number, writers, seconds) for number in range(writers)], 1
                )
                rates[workload] = sum(found_rates)
    return rates


def write(name: str, where: str, first: int, step: int, seconds: float) -> float:
    """Append to streams that lie so far apart, from the first on; returns events a second."""
    store, rng, versions, count = KINDS[name].connect(where), Random(first), dict[int, int](), 0
    start = perf_counter()
    while (elapsed := perf_counter() - start) < seconds:
        stream = first + step * rng.randrange(STREAMS // step)
        store.append(stream, versions.get(stream, 0))
        versions[stream] = versions.get(stream, 0) + 1
        count += 1
    return count / elapsed
