"""A whole server on loopback, as a stranger finds it: engine, gateway, referee, bots and auditor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from services.bootstrap.composition import open_ledger
from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from services.ledger import RedisLedger
from tests.many_clients import settings_for_many_clients


class WholeServer(NamedTuple):
    """The running services, requests to their gateway, and what only the operator reads."""

    running: EmbeddedServer
    http: httpx.Client
    ledger: RedisLedger
    data: Path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeServer]:
    data = tmp_path_factory.mktemp("server")
    settings = settings_for_many_clients()
    with (
        run_embedded_server(data, settings) as running,
        httpx.Client(base_url=running.url, timeout=20, trust_env=False) as http,
        closing(open_ledger(running.settings)) as ledger,
    ):
        yield WholeServer(running, http, ledger, data)
