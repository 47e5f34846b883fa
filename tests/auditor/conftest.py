"""A server on a real engine, with an archive in a folder, and an auditor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import redis
from pydantic import SecretStr

from services.archive import Archive
from services.auditor.jobs import JobContext
from services.auditor.worker import Auditor
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from services.referee.decision_building import Clocks
from services.referee.worker import Referee
from services.runtime.settings import read_settings
from tests.auditor.given import SIGNER, SIGNING_KEY
from tests.conftest import ALL, PARTITIONS
from tests.referee.running_referee import FRESH, Clock

STAYS_S = 3_600.0
STREAMS_STAY_S = 60.0


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of an S3 server in this process."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - a third of a second, for every worker that collects

    s3_server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    s3_server.start()
    host, port = s3_server.get_host_and_port()
    yield f"http://{host}:{port}"
    s3_server.stop()


class Server(NamedTuple):
    """A server, with each of its parts."""

    url: str
    client: redis.Redis
    ledger: RedisLedger
    archive: Archive
    wall: Clock
    referee: Referee
    auditor: Auditor

    def work(self) -> None:
        """Let the auditor find and do all its work."""
        self.auditor.enqueue_due()
        while self.auditor.step():
            pass


@pytest.fixture
def server(engine_url: str, tmp_path: Path) -> Iterator[Server]:
    client = connect(engine_url)
    client.flushdb()
    ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
    wall, archive = Clock(), Archive((tmp_path / "archive").as_uri())
    referee = Referee(
        ledger,
        "referee",
        Clocks(Clock(), wall),
        lambda: FRESH,
        lambda: ALL,
        read_archived_length=ledger.archive_index().archived_length,
    )
    auditor = auditor_at(client, ledger, archive, wall)
    yield Server(engine_url, client, ledger, archive, wall, referee, auditor)
    auditor.deregister()
    client.close()


def auditor_at(
    client: redis.Redis, ledger: RedisLedger, archive: Archive, wall: Clock, name: str = "auditor"
) -> Auditor:
    settings = read_settings(
        archive_url=archive.url, archived_stays_s=STAYS_S, signing_key=SecretStr(SIGNING_KEY)
    )
    auditor = Auditor(JobContext(ledger, settings, wall, archive, SIGNER), client, name)
    auditor.register()
    return auditor
