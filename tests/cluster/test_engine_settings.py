"""P1: of a cluster each primary's settings are judged, by the name of the node."""

from __future__ import annotations

from services.gateway.health import watch_engine
from tests.captured_logs import captured_logs
from tests.cluster.nodes import Cluster
from tests.cluster.play import PARTITIONS


def test_P1_a_primary_that_breaks_promises_is_named_and_one_that_is_not_believed_too(nodes: Cluster) -> None:
    # given
    dropping, hasty = nodes.primaries()[:2]
    before = {node: node.call.config_get("*") for node in (dropping, hasty)}
    dropping.call.config_set("maxmemory", "100mb")
    dropping.call.config_set("maxmemory-policy", "allkeys-lru")
    hasty.call.config_set("appendfsync", "everysec")
    # when
    try:
        with captured_logs() as lines:
            watch = watch_engine(nodes.url, PARTITIONS, strict=False)
    finally:
        for node, settings in before.items():
            for name in ("maxmemory", "maxmemory-policy", "appendfsync"):
                node.call.config_set(name, settings[name])
    # then
    told = {line["node"].rpartition(":")[2]: line["event"] for line in lines}
    assert told == {
        str(dropping.port): "the engine's settings break promises",
        str(hasty.port): "nobody can be answered at level durable",
    }
    assert len(watch.nodes) == len(nodes.primaries())
