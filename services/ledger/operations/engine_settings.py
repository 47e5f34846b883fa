"""Which promises an engine's settings break, and whether it can make an entry durable: judged from what it says of
itself, and from how fast its WAITAOF answers.

Valkey (8.1 to 9.1, tried) and Redis 7.4.0 to 7.4.2 answer WAITAOF at their next tick where `appendfsync` is
`everysec` and less than a second has passed since the last sync: nothing is on the disk then. An engine that waits for
its disk can't confirm two writes in a row within much less than a second. So its word is tried: see WaitaofTrial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from redis.cluster import RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from services.ledger.engine import keys
from services.ledger.engine.queries import Client, Query, Reply, command, run

NOT_SHOWN: Final = "?"  # of a setting that the engine doesn't show
KEEPS_ALL: Final = "noeviction"
MIN_SYNC_GAP_S: Final = 0.5  # between two syncs of `everysec`, less what the first of them may take
AOF_IN_FORCE: Final = {
    "aof_enabled": "1",
    "aof_rewrite_in_progress": "0",
    "aof_rewrite_scheduled": "0",
    "aof_last_write_status": "ok",
    "role": "master",  # what a replica was written is dropped when it follows again
}


class EngineSettings(NamedTuple):
    """The settings of an engine, or of a node, that promises stand on; NOT_SHOWN is what it doesn't show."""

    run_id: str = NOT_SHOWN  # another one after each start
    fsync_policy: str = NOT_SHOWN  # always, everysec or no; off without an AOF
    is_synced_in_rewrites: bool = True
    eviction: str = NOT_SHOWN  # maxmemory-policy
    max_bytes: int = 0  # maxmemory; 0 is no limit
    evicted_keys: int = 0  # since it started

    @property
    def may_drop_keys(self) -> bool:
        """Whether it drops keys that nobody deleted when its memory is full."""
        return self.max_bytes > 0 and self.eviction not in {KEEPS_ALL, NOT_SHOWN}

    @property
    def syncs_before_it_answers(self) -> bool:
        """Whether what it answers is on its disk."""
        return self.fsync_policy == "always" and self.is_synced_in_rewrites


class EngineLoad(NamedTuple):
    """What an engine, or a node, takes of memory and disk now."""

    used_bytes: int = 0
    aof_bytes: int = 0
    delayed_fsyncs: int = 0  # since it started
    is_aof_written: bool = True  # the last write to it succeeded


class WaitaofTrial(NamedTuple):
    """How a run of an engine answered WAITAOF after some writes in a row."""

    run_id: str
    shortest_s: float  # from a write that followed an answer to its own answer
    error: str = ""  # why the trial has no result

    @property
    def waits_for_disk(self) -> bool:
        """Whether the engine's word can be believed."""
        return not self.error and self.shortest_s >= MIN_SYNC_GAP_S


class EngineCapabilities(NamedTuple):
    """What an engine has for confirmations: found by trying, never by its version."""

    settings: EngineSettings = EngineSettings()
    waitaof_error: str = ""  # '' where it takes WAITAOF
    trial: WaitaofTrial | None = None  # where WAITAOF has to be believed
    load: EngineLoad = EngineLoad()

    @property
    def unavailable_reason(self) -> str:
        """Why `durable` can't be had, and what to set; '' where it can."""
        settings = self.settings
        if settings.fsync_policy in _NEVER_DURABLE:
            return _NEVER_DURABLE[settings.fsync_policy]
        if settings.may_drop_keys:
            return _eviction_problem(settings)
        if settings.eviction == NOT_SHOWN:
            return "the engine doesn't show whether it may drop keys: allow INFO"
        if settings.syncs_before_it_answers or (self.trial and self.trial.waits_for_disk):
            return ""
        return f"{_describe_sync(settings)}, and {self._waitaof_problem()}: {_REMEDY[settings.fsync_policy == NOT_SHOWN]}"

    def _waitaof_problem(self) -> str:
        if self.waitaof_error:
            return f"the engine takes no WAITAOF ({self.waitaof_error})"
        if self.trial is None:
            return "its WAITAOF wasn't tried"
        if self.trial.error:
            return f"its WAITAOF can't be tried ({self.trial.error})"
        return f"its WAITAOF doesn't wait for the disk (two in a row took {self.trial.shortest_s:.3f} s)"


_NEVER_DURABLE: Final = {
    "off": "the engine keeps no AOF: set appendonly yes and appendfsync always",
    "no": "the engine never syncs its AOF itself: set appendfsync always",
}
_REMEDY: Final = {
    False: "set appendfsync always and no-appendfsync-on-rewrite no",
    True: "allow CONFIG GET, and set appendfsync always",
}


def broken_promises(settings: EngineSettings) -> list[str]:
    """Say which of P1 and P7 these settings break, in sentences with what to set; empty where they break nothing."""
    broken = []
    if settings.fsync_policy in _NEVER_DURABLE:
        loss = "a crash loses what was acknowledged (P1, P7)"
        broken.append(f"{_NEVER_DURABLE[settings.fsync_policy]}; until then {loss}")
    if settings.may_drop_keys:
        broken.append(f"{_eviction_problem(settings)}; until then games vanish (P1, P7)")
    return broken


def unknown_settings(settings: EngineSettings) -> list[str]:
    """What the engine doesn't show, so that nobody can tell whether it breaks a promise."""
    missing = {"CONFIG GET": settings.fsync_policy, "INFO": settings.eviction}
    return [
        f"the engine doesn't allow {command}: its settings can't be judged"
        for command, setting in missing.items()
        if setting == NOT_SHOWN
    ]


def is_aof_in_force(info: Reply) -> bool:
    """Whether the AOF has what is written now, from the reply to INFO.

    An AOF that was just switched on isn't in force before its first rewrite is done: a crash loses
    everything. That rewrite looks like any later one, so during a rewrite the result is False."""
    fields = info_fields(info)
    return all(fields.get(field) == value for field, value in AOF_IN_FORCE.items())


def parse_settings(config: Reply, info: Reply) -> EngineSettings:
    """The settings from the replies to CONFIG GET PROMISE_SETTINGS and INFO; an error is the reply of an engine that
    doesn't allow it, and an empty one of INFO wasn't asked for."""
    fields = info_fields(info)
    settings = EngineSettings(
        fields.get("run_id", NOT_SHOWN),
        eviction=fields.get("maxmemory_policy", NOT_SHOWN),
        max_bytes=int(fields.get("maxmemory", 0)),
        evicted_keys=int(fields.get("evicted_keys", 0)),
    )
    if isinstance(config, Exception):
        return settings._replace(fsync_policy="off" if fields.get("aof_enabled") == "0" else NOT_SHOWN)
    values: Mapping[bytes, bytes] = dict(zip(config[::2], config[1::2], strict=True))
    is_on = values.get(b"appendonly") == b"yes"
    if not fields and not isinstance(info, Exception):
        settings = settings._replace(
            eviction=values.get(b"maxmemory-policy", NOT_SHOWN.encode()).decode(),
            max_bytes=int(values.get(b"maxmemory", 0)),
        )
    return settings._replace(
        fsync_policy=values.get(b"appendfsync", NOT_SHOWN.encode()).decode() if is_on else "off",
        is_synced_in_rewrites=values.get(b"no-appendfsync-on-rewrite") == b"no",
    )


def parse_load(info: Reply) -> EngineLoad:
    """The load from the reply to INFO; an engine that doesn't show it seems to have none."""
    fields = info_fields(info)
    return EngineLoad(
        used_bytes=int(fields.get("used_memory", 0)),
        aof_bytes=int(fields.get("aof_current_size", 0)),
        delayed_fsyncs=int(fields.get("aof_delayed_fsync", 0)),
        is_aof_written=fields.get("aof_last_write_status", "ok") == "ok",
    )


def info_fields(info: Reply) -> Mapping[str, str]:
    """The fields of INFO, which redis-py parses in a pipeline and leaves as bytes on a connection."""
    if isinstance(info, Exception):
        return {}
    if isinstance(info, dict):
        return {name: str(value) for name, value in info.items()}
    lines = info.decode(errors="replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _eviction_problem(settings: EngineSettings) -> str:
    return f"the engine drops keys when its memory is full ({settings.eviction}): set maxmemory-policy noeviction"


def _describe_sync(settings: EngineSettings) -> str:
    if settings.fsync_policy == NOT_SHOWN:
        return "the engine doesn't say when it syncs its AOF"
    if settings.fsync_policy == "always":
        return (
            "the engine's AOF is synced always, but not while it is rewritten (no-appendfsync-on-rewrite yes)"
        )
    return f"the engine's AOF is synced {settings.fsync_policy}"


# appendonly, appendfsync, no-appendfsync-on-rewrite, maxmemory and maxmemory-policy: Redis 6.2 takes one pattern.
PROMISE_SETTINGS: Final = "*[px][pm]e*"
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
        command("CONFIG", "GET", PROMISE_SETTINGS),
        command("INFO"),
    ]
    settings = parse_settings(config, info)
    waitaof_error = str(waitaof) if isinstance(waitaof, Exception) else ""
    if "appendonly is disabled" in waitaof_error:
        settings = settings._replace(fsync_policy="off")
    capabilities = EngineCapabilities(settings, waitaof_error, load=parse_load(info))
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
