"""X-Forwarded-For: a client that writes one escapes no limit, unless it is a proxy that the settings name."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from schemas.errors import InvalidInputError
from services.bootstrap.embedded import run_embedded_server
from services.runtime.connection_limits import OpenConnections, ServerLimits
from services.runtime.settings import read_settings

READ_BURST = 3
PROXY = "127.0.0.60"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = read_settings(port=0, read_rate=0.001, proxies=f"{PROXY}, 10.0.0.0/8")
    limits = ServerLimits(burst_s=1_000 * READ_BURST)
    with run_embedded_server(tmp_path_factory.mktemp("proxies"), settings, limits=limits) as running:
        yield running.url


def statuses(url: str, peer: str, *forwarded: str) -> list[int]:
    """The statuses of reads that this peer sends, one for each address that it says they come from."""
    transport = httpx.HTTPTransport(local_address=peer)
    with httpx.Client(base_url=url, transport=transport, trust_env=False) as http:
        return [http.get("/rules", headers={"X-Forwarded-For": name}).status_code for name in forwarded]


def test_a_client_on_the_same_machine_is_not_believed(url: str) -> None:
    names = [f"192.0.2.{number}" for number in range(READ_BURST + 1)]
    assert statuses(url, "127.0.0.1", *names) == [200] * READ_BURST + [429]


def test_a_named_proxy_is_believed_and_each_of_its_clients_has_a_limit(url: str) -> None:
    clients = [f"198.51.100.{number}" for number in range(READ_BURST + 2)]
    assert statuses(url, PROXY, *clients) == [200] * (READ_BURST + 2)
    assert statuses(url, PROXY, *[clients[0]] * READ_BURST) == [200] * (READ_BURST - 1) + [429]


def test_what_a_client_of_the_proxy_wrote_itself_is_not_believed(url: str) -> None:
    forged = [f"203.0.113.{number}, 198.51.100.77" for number in range(READ_BURST + 1)]  # the proxy appends
    assert statuses(url, PROXY, *forged) == [200] * READ_BURST + [429]


def test_the_connections_of_a_proxy_count_in_total_only() -> None:
    connections = OpenConnections(3, 1, read_settings(proxies=PROXY).proxies or ())
    assert [connections.open(PROXY) is None for _ in range(4)] == [True, True, True, False]
    assert OpenConnections(3, 0).open(PROXY) is not None


@pytest.mark.parametrize("wrong", ["*", "localhost", "10.0.0.1/8", "10.0.0.0/33"])
def test_a_proxy_that_is_no_address_is_refused_by_name(wrong: str) -> None:
    with pytest.raises(InvalidInputError, match="LEDGERLINE_PROXIES"):
        read_settings(proxies=wrong)
