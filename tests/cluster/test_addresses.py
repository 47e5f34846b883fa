"""The address names one engine or a cluster, and the error for a wrong one names what to do."""

from __future__ import annotations

import pytest

from schemas.errors import InvalidInputError
from services.ledger.engine.connection import (
    EngineUnavailableError,
    EngineUnreachableError,
    connect,
    init_partition_count,
    parse_seed_nodes,
    require_engine_url,
)
from services.runtime.settings import read_settings
from tests.cluster.nodes import WORD, Cluster


@pytest.mark.parametrize(
    ("url", "addresses", "first"),
    [
        ("redis+cluster://a", [("a", 6379)], "redis://a"),
        ("redis+cluster://a:1,b:2", [("a", 1), ("b", 2)], "redis://a:1"),
        ("rediss+cluster://me:p%40ss@a:1,b:2/0", [("a", 1), ("b", 2)], "rediss://me:p%40ss@a:1/0"),
        (
            "rediss+cluster://a:1,b:2?ssl_cert_reqs=none",
            [("a", 1), ("b", 2)],
            "rediss://a:1?ssl_cert_reqs=none",
        ),
        ("redis+cluster://[::1]:7000,[::2]:7001", [("::1", 7000), ("::2", 7001)], "redis://[::1]:7000"),
    ],
)
def test_a_clusters_address_names_its_nodes(url: str, addresses: list[tuple[str, int]], first: str) -> None:
    assert read_settings(redis_url=url).redis_url == url
    assert parse_seed_nodes(url) == (first, addresses)


@pytest.mark.parametrize("url", ["redis://a:1", "rediss://a", "unix:///run/engine.sock"])
def test_any_other_address_is_of_one_engine(url: str) -> None:
    require_engine_url(url)
    assert parse_seed_nodes(url) is None


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis+cluster://a:1,b:x", "no address of an engine"),
        ("redis+cluster://a:1,b:2/3", "a cluster has none"),
        ("redis+cluster://a:1?db=3", "a cluster has none"),
        ("unix+cluster:///run/engine.sock", "only begins"),
        ("redis+cluster://a,,b", "names no node"),
        ("redis+cluster://", "names no node"),
    ],
)
def test_the_error_for_a_wrong_address_names_what_is_wrong(url: str, why: str) -> None:
    with pytest.raises(InvalidInputError, match=f"LEDGERLINE_REDIS_URL: .*{why}"):
        require_engine_url(url)


def test_a_cluster_of_which_no_node_answers_is_away() -> None:
    with pytest.raises(EngineUnreachableError, match=r"127\.0\.0\.1:1, 127\.0\.0\.1:2"):
        connect("redis+cluster://127.0.0.1:1,127.0.0.1:2")


def test_an_engine_alone_is_no_cluster(engine_url: str) -> None:
    with pytest.raises(EngineUnavailableError, match="no cluster"):
        connect(engine_url.removesuffix("/0").replace("redis://", "redis+cluster://"))


def test_a_clusters_node_is_no_engine_of_its_own(nodes: Cluster) -> None:
    for node in nodes.nodes:
        with (
            connect(f"redis://:{WORD}@127.0.0.1:{node.port}") as client,
            pytest.raises(EngineUnavailableError, match=r"redis\+cluster"),
        ):
            init_partition_count(client)


def test_one_living_node_of_those_named_is_enough(nodes: Cluster) -> None:
    alone = f"redis+cluster://:{WORD}@127.0.0.1:1,127.0.0.1:{nodes.nodes[-1].port}"
    with connect(alone) as client:
        assert init_partition_count(client, 4) == 4
