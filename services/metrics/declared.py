"""Every metric of the services; docs/reference/metrics.md is made of this module (`make reference`).

Counters, gauges and histograms cost a command next to nothing. A service adds to them as it works, whether anybody reads
them or not. `metrics_port` hands them to prometheus-client, which writes its format. That library's own take two or three
times the CPU (1.3 us a labelled count, 0.7 us a value of a histogram; these 0.4 us), have no bound of their label values,
and take 60 ms to load where nobody reads them.

Labels have few values: rules, kinds and states, partitions and nodes of the engine, never a game, a name or an address of a
player.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Final

MAX_SERIES: Final = 1_000  # of a metric that is counted; more label values are counted as OTHER
OTHER: Final = "other"
# Seconds: a decision takes a tenth of a millisecond, and nobody waits longer than ten seconds.
FAST_BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5)
SLOW_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Labels = tuple[str, ...]


class Metric:
    """A name, what it means, its labels, and the services that show it. The name ends in its unit."""

    def __init__(self, name: str, meaning: str, services: Sequence[str], labels: Labels = ()) -> None:
        self.name, self.meaning, self.services, self.labels = f"ledgerline_{name}", meaning, services, labels
        self._lock = Lock()


class Counter(Metric):
    """Counts what happens. One without labels is 0 from the start; of one with labels, `known` are."""

    def __init__(
        self,
        name: str,
        meaning: str,
        services: Sequence[str],
        labels: Labels = (),
        known: Sequence[Labels] = (),
    ) -> None:
        super().__init__(f"{name}_total", meaning, services, labels)
        self._values: dict[Labels, float] = dict.fromkeys(known if labels else ((),), 0.0)

    def add(self, *labels: str, count: float = 1) -> None:
        """Count so many more. Beyond MAX_SERIES, new label values are OTHER: strangers can't fill the memory."""
        with self._lock:
            values = self._values
            if labels not in values and len(values) >= MAX_SERIES:
                labels = (OTHER,) * len(self.labels)
            values[labels] = values.get(labels, 0.0) + count

    def read(self) -> Mapping[Labels, float]:
        """The counts by label values."""
        with self._lock:
            return dict(self._values)


class Gauge(Metric):
    """A value of now, that is read only when somebody asks."""

    def __init__(self, name: str, meaning: str, services: Sequence[str], labels: Labels = ()) -> None:
        super().__init__(name, meaning, services, labels)
        self._readers: dict[str, Callable[[], Mapping[Labels, float]]] = {}

    def read_from(self, read: Callable[[], float | Mapping[Labels, float]], source: str = "") -> None:
        """Read it with this function from now on, which is called on another thread and returns the value, or the
        values by label values. Each `source` has one function."""

        def read_labelled() -> Mapping[Labels, float]:
            value = read()
            return value if isinstance(value, Mapping) else {(): value}

        self._readers[source] = read_labelled

    def read(self) -> Mapping[Labels, float]:
        """The values by label values; none where nothing was measured yet."""
        return {labels: value for read in list(self._readers.values()) for labels, value in read().items()}


class Distribution:
    """How many values fell into each bucket, and their sum."""

    __slots__ = ("counts", "total")

    def __init__(self, buckets: int) -> None:
        self.counts, self.total = [0] * buckets, 0.0


class Histogram(Metric):
    """How values are distributed over buckets."""

    def __init__(
        self,
        name: str,
        meaning: str,
        services: Sequence[str],
        labels: Labels = (),
        buckets: Sequence[float] = FAST_BUCKETS,
    ) -> None:
        super().__init__(name, meaning, services, labels)
        self.buckets = tuple(buckets)
        self._values: dict[Labels, Distribution] = {}
        if not labels:
            self._values[()] = Distribution(len(self.buckets) + 1)

    def observe(self, value: float, *labels: str) -> None:
        """Count a value."""
        with self._lock:
            found = self._values.get(labels)
            if found is None:
                if len(self._values) >= MAX_SERIES:
                    labels = (OTHER,) * len(self.labels)
                found = self._values.setdefault(labels, Distribution(len(self.buckets) + 1))
            found.counts[bisect_left(self.buckets, value)] += 1
            found.total += value

    def read(self) -> Mapping[Labels, tuple[Sequence[int], float]]:
        """For each label values the counts of the buckets, and of what is beyond the last, and the sum."""
        with self._lock:
            return {labels: ([*found.counts], found.total) for labels, found in self._values.items()}


GATEWAY: Final = ("gateway",)
REFEREE: Final = ("referee",)
BOTS: Final = ("bots",)
AUDITOR: Final = ("auditor",)
EVERY: Final = ("gateway", "referee", "bots", "auditor")

# -- every service ---------------------------------------------------------------------------

LOOP_SILENCE: Final = Gauge(
    "loop_silence_seconds", "How long ago the service's loop last came round.", EVERY, ("service",)
)
LOOP_STANDSTILL: Final = Histogram(
    "loop_standstill_seconds",
    "How long the loop stood still: of a gateway, how late it came round; of others, how long a round took, "
    "of which up to half a second is waiting.",
    EVERY,
    ("service",),
    SLOW_BUCKETS,
)
ENGINE_FAILURES: Final = Counter(
    "engine_failures",
    "Tries that failed because the engine is away, or refuses writes (its disk or its memory is full).",
    EVERY,
    ("kind",),
    (("away",), ("refused",)),
)

WALL_CLOCK: Final = Gauge(
    "wall_clock_seconds", "The service's wall clock, which should be Prometheus' own.", EVERY
)

# -- referee ---------------------------------------------------------------------------------

COMMANDS: Final = Counter(
    "commands",
    "Commands by verdict (accepted, refused, rejected without an entry, repeated, dead) and by the rule that said no.",
    REFEREE,
    ("verdict", "rule"),
    tuple((verdict, "") for verdict in ("accepted", "repeated", "dead")),
)
DECISION_SECONDS: Final = Histogram("decision_seconds", "How long deciding a command took.", REFEREE)
APPEND_SECONDS: Final = Histogram(
    "append_seconds",
    "How long writing a batch of decisions took, without deciding them.",
    REFEREE,
    buckets=SLOW_BUCKETS,
)
CONFLICTS: Final = Counter(
    "append_conflicts", "Decisions that another referee's entry came before: they are decided again.", REFEREE
)
INTERRUPTIONS: Final = Counter("interrupted_decisions", "Decisions that took longer than they may.", REFEREE)
CACHE_LOOKUPS: Final = Counter(
    "cache_lookups",
    "Games that commands were for: in the cache (hit), of which some had to be unpacked (restored), or read from the log "
    "(read).",
    REFEREE,
    ("result",),
    (("hit",), ("restored",), ("read",)),
)
CACHED_GAMES: Final = Gauge("cached_games", "Games in the cache, folded or packed.", REFEREE, ("form",))
CACHED_BYTES: Final = Gauge("cached_bytes", "What those games take, as far as it is measured.", REFEREE)
LEASED_PARTITIONS: Final = Gauge("leased_partitions", "Partitions that this referee has leased.", REFEREE)

# -- gateway ---------------------------------------------------------------------------------

REQUESTS: Final = Counter(
    "http_requests", "HTTP requests by method, route and status.", GATEWAY, ("method", "route", "status")
)
REQUEST_SECONDS: Final = Histogram(
    "http_request_seconds", "From a request to its answer.", GATEWAY, ("method",), SLOW_BUCKETS
)
CONNECTIONS: Final = Gauge("connections", "Open connections, over HTTP and WebSocket.", GATEWAY)
SOCKETS: Final = Gauge("sockets", "Open WebSockets.", GATEWAY)
FOLLOWERS: Final = Gauge("followers", "Subscriptions to games, over WebSockets and streams.", GATEWAY)
FOLLOWED_GAMES: Final = Gauge("followed_games", "Games that somebody follows.", GATEWAY)
VERDICT_SECONDS: Final = Histogram(
    "verdict_seconds",
    "From a command, on a socket or over HTTP, to its verdict there.",
    GATEWAY,
    buckets=SLOW_BUCKETS,
)
NOTIFY_SECONDS: Final = Histogram(
    "notify_seconds",
    "From the notification of an entry to the sockets of all who follow the game.",
    GATEWAY,
)
DELIVERED_ENTRIES: Final = Counter(
    "delivered_entries", "Entries that were sent to followers, each counted for each of them.", GATEWAY
)
RESUME_GAP: Final = Histogram(
    "resume_gap_entries",
    "How many entries a follower lacked that came back with its last number.",
    GATEWAY,
    buckets=(0, 1, 2, 5, 10, 50, 100, 500, 1_000),
)
FOLLOW_ENDS: Final = Counter(
    "follow_ends",
    "Subscriptions that the gateway ended: slow (the follower doesn't keep up), rewound or damaged (the log can't be "
    "followed on).",
    GATEWAY,
    ("reason",),
    (("slow",), ("rewound",), ("damaged",)),
)
UNKNOWN_ANSWERS: Final = Counter(
    "unknown_answers", "Answers without a verdict: the command got none in time.", GATEWAY
)
LIMIT_HITS: Final = Counter(
    "limit_hits", "Requests and messages that a limit refused, by its rule.", GATEWAY, ("rule",)
)

# -- the system, as each gateway sees it -------------------------------------------------------

READY: Final = Gauge("ready", "1 where a command can be expected to get its verdict, else 0.", GATEWAY)
SERVICES: Final = Gauge("services", "Services of each kind whose heartbeat is fresh.", GATEWAY, ("kind",))
QUEUE_LENGTH: Final = Gauge(
    "queue_length",
    "What waits in each partition: commands for referees, tasks for bots.",
    GATEWAY,
    ("queue", "partition"),
)
QUEUE_AGE: Final = Gauge(
    "queue_oldest_seconds",
    "How long the oldest of it has waited, since this gateway saw it first.",
    GATEWAY,
    ("queue", "partition"),
)
STALLED_PARTITIONS: Final = Gauge(
    "stalled_partitions", "Partitions in which the oldest waits for too long.", GATEWAY, ("queue",)
)
DEAD_LETTERS: Final = Gauge(
    "dead_letters", "Commands that were put aside for an operator, by partition.", GATEWAY, ("partition",)
)
ENGINE_NODES: Final = Gauge(
    "engine_nodes", "Nodes of the engine by state: ok, away, or refusing writes.", GATEWAY, ("state",)
)
MOVED_PARTITIONS: Final = Counter(
    "moved_partitions", "Partitions that went to another node of the engine, as this gateway saw.", GATEWAY
)
ENGINE_MEMORY: Final = Gauge("engine_memory_bytes", "Memory that a node uses.", GATEWAY, ("node",))
ENGINE_MEMORY_LIMIT: Final = Gauge(
    "engine_memory_limit_bytes", "Memory that a node may use; 0: no limit.", GATEWAY, ("node",)
)
ENGINE_EVICTIONS: Final = Gauge(
    "engine_evicted_keys", "Keys that a node dropped since it started; each is a loss.", GATEWAY, ("node",)
)
AOF_BYTES: Final = Gauge("engine_aof_bytes", "Size of a node's append-only file.", GATEWAY, ("node",))
AOF_WELL: Final = Gauge(
    "engine_aof_ok",
    "1 where a node's last write to its append-only file succeeded, else 0.",
    GATEWAY,
    ("node",),
)
DELAYED_FSYNCS: Final = Gauge(
    "engine_delayed_fsyncs", "Writes of a node, since it started, that waited for a sync.", GATEWAY, ("node",)
)
ENGINE_WRITE_SECONDS: Final = Histogram(
    "engine_write_seconds",
    "How long a node took for one write; where it syncs before it answers, that is the delay of its disk.",
    GATEWAY,
    buckets=SLOW_BUCKETS,
)
DISK_FREE: Final = Gauge(
    "disk_free_bytes",
    "Free space of the disks that the service sees: the engine's where its folder is here, the archive's.",
    (*GATEWAY, *AUDITOR),
    ("disk",),
)
DISK_SIZE: Final = Gauge("disk_size_bytes", "Size of these disks.", (*GATEWAY, *AUDITOR), ("disk",))

# -- bots --------------------------------------------------------------------------------------

THINKING_SECONDS: Final = Histogram(
    "bot_thinking_seconds", "How long a policy took for a choice.", BOTS, ("policy",), SLOW_BUCKETS
)
BOT_TASKS: Final = Counter(
    "bot_tasks",
    "Tasks by result: finished, put back to wait, or dropped.",
    BOTS,
    ("result",),
    (("finished",), ("waits",), ("dropped",)),
)
SLOW_TASKS: Final = Gauge(
    "bot_slow_tasks", "Tasks that wait for a process to think, or about which one thinks.", BOTS
)

# -- auditor -----------------------------------------------------------------------------------

JOBS: Final = Counter(
    "jobs",
    "Jobs by kind and result: finished, retried later, or failed for good.",
    AUDITOR,
    ("job", "result"),
)
ARCHIVE_WAITING: Final = Gauge(
    "archive_waiting_games",
    "Finished games that the auditor's last round found outside of the archive.",
    AUDITOR,
)
ARCHIVE_LAG: Final = Gauge(
    "archive_lag_seconds",
    "For how long the longest of them has been found there; 0 where none is.",
    AUDITOR,
)
WEBHOOKS: Final = Counter(
    "webhook_deliveries",
    "Notices to web addresses by result: delivered, failed, busy (asked again later), gone (wants no more).",
    AUDITOR,
    ("result",),
    (("delivered",), ("failed",), ("busy",), ("gone",)),
)

DECLARED: Final[tuple[Metric, ...]] = tuple(
    value for value in list(globals().values()) if isinstance(value, Metric)
)
