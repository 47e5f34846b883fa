"""Asks an engine what it can do, and tries whether its word can be believed. See `engine_settings` and `queries`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from redis.cluster import RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from services.ledger.engine import keys
from services.ledger.engine.queries import Client, Query, command, run
from services.ledger.operations.engine_settings import EngineCapabilities, WaitaofTrial, parse_settings

FSYNC_SETTINGS: Final = "*append*"  # appendonly, appendfsync, no-appendfsync-on-rewrite
TRIED_WRITES: Final = 3
TRIAL_TIMEOUT_MS: Final = 2_500  # an engine that syncs every second has answered by then
DECIDED_POLICIES: Final = frozenset({"off", "no"})  # no trial can help


def probe_engine(
    mark: str, known: WaitaofTrial | None, now_s: Callable[[], float]
) -> Query[EngineCapabilities]:
    """What this engine can do. `mark` is a key of its own that may be written, `known` an earlier trial, which is
    good for as long as the engine runs on."""
    waitaof, config, info = yield [
        command("WAITAOF", 1, 0, 1),
        command("CONFIG", "GET", FSYNC_SETTINGS),
        command("INFO"),
    ]
    settings = parse_settings(config, info)
    waitaof_error = str(waitaof) if isinstance(waitaof, Exception) else ""
    if "appendonly is disabled" in waitaof_error:
        settings = settings._replace(fsync_policy="off")
    capabilities = EngineCapabilities(settings, waitaof_error)
    if waitaof_error or settings.syncs_before_it_answers or settings.fsync_policy in DECIDED_POLICIES:
        return capabilities
    if known is None or known.run_id != settings.run_id or known.error:
        known = yield from try_waitaof(mark, settings.run_id, now_s)
    return capabilities._replace(trial=known)


def try_waitaof(mark: str, run_id: str, now_s: Callable[[], float]) -> Query[WaitaofTrial]:
    """Write a few times in a row, each time as soon as the write before is said to be on the disk."""
    waits_s = []
    for _ in range(TRIED_WRITES):
        began_s = now_s()
        written, synced = yield [command("SET", mark, 0), command("WAITAOF", 1, 0, TRIAL_TIMEOUT_MS)]
        for reply in (written, synced):
            if isinstance(reply, Exception):
                return WaitaofTrial(run_id, 0, str(reply))
        if synced[0] < 1:
            return WaitaofTrial(run_id, 0, f"no answer within {TRIAL_TIMEOUT_MS / 1000:g} s")
        waits_s.append(now_s() - began_s)
    return WaitaofTrial(run_id, min(waits_s[1:]))  # the first may have come just before a sync


def probe_nodes(
    client: Client, partitions: int, known: Mapping[str, WaitaofTrial | None], now_s: Callable[[], float]
) -> dict[str, EngineCapabilities]:
    """What each node of a blocking client's engine can do, by its name: '' for a single engine; of a cluster, its
    primaries that answer. Raises RedisError: the single engine doesn't."""
    if not isinstance(client, RedisCluster):
        query = probe_engine(keys.confirmation_mark(0), known.get(""), now_s)
        return {"": run(client, query)}
    found = {}
    for name, (connection, mark) in _primaries(client, partitions).items():
        try:
            found[name] = run(connection, probe_engine(mark, known.get(name), now_s))
        except RedisError:  # that it is away, others say
            continue
    return found


def _primaries(cluster: Client, partitions: int) -> dict[str, tuple[Client, str]]:
    """A connection to each node that has a partition, and a mark that it holds."""
    nodes: dict[str, tuple[Client, str]] = {}
    for mark in map(keys.confirmation_mark, range(partitions)):
        try:
            node = cluster.get_node_from_key(mark)
        except RedisClusterException:
            continue
        nodes.setdefault(node.name, (cluster.get_redis_connection(node), mark))
    return nodes
