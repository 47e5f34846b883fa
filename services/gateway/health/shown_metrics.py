"""What a gateway shows Prometheus of engine, queues and services: what its watches found last, so no scrape asks the
engine anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from services.gateway.following.hub import Hub
from services.gateway.health.health_watch import EngineSettingsWatch, HealthWatch, PartitionWatch
from services.ledger.operations.engine_settings import EngineLoad
from services.ledger.operations.service_kinds import SILENT_S
from services.metrics import declared as metrics
from services.metrics.metric_types import Labels


def show_system(
    hub: Hub, health: HealthWatch, settings: EngineSettingsWatch | None, is_listening: Callable[[], bool]
) -> None:
    """Show how many follow games, and what the watches find."""
    metrics.FOLLOWERS.read_from(hub.count_followers)
    metrics.FOLLOWED_GAMES.read_from(lambda: len(hub.followed_games))
    _show_health(health, is_listening)
    if settings is not None:
        _show_engine(settings)


def _show_health(watch: HealthWatch, is_listening: Callable[[], bool]) -> None:
    """Show what a watch of the system finds."""
    queues = {"commands": watch.partitions, "bot_tasks": watch.bot_tasks}

    def by_partition(of: Callable[[PartitionWatch], Mapping[int, float]]) -> Mapping[Labels, float]:
        found = {queue: of(each) for queue, each in queues.items()}
        return {
            (queue, str(partition)): values.get(partition, 0)
            for queue, values in found.items()
            for partition in range(watch.ledger.partitions)
        }

    def lengths(queue: PartitionWatch) -> Mapping[int, float]:
        return {partition: each.backlog.waiting for partition, each in queue.waiting.copy().items()}

    def ages(queue: PartitionWatch) -> Mapping[int, float]:
        now_s = watch.monotonic_s()
        return {partition: now_s - each.since_s for partition, each in queue.waiting.copy().items()}

    def services() -> Mapping[Labels, float]:
        return {
            (kind.command,): sum(last_s < SILENT_S for last_s in members.last_signs_s().values())
            for kind, members in watch.members.items()
        }

    def nodes() -> Mapping[Labels, float]:
        states = Counter(node.status.replace(" ", "_") for node in watch.nodes.copy().values())
        return {(state,): states[state] for state in ("ok", "away", "refuses_writes")}

    metrics.READY.read_from(lambda: is_listening() and watch.is_ready())
    metrics.SERVICES.read_from(services)
    metrics.QUEUE_LENGTH.read_from(lambda: by_partition(lengths))
    metrics.QUEUE_AGE.read_from(lambda: by_partition(ages))
    metrics.STALLED_PARTITIONS.read_from(
        lambda: {(queue,): len(each.stalled) for queue, each in queues.items()}
    )
    metrics.DEAD_LETTERS.read_from(
        lambda: {(str(partition),): count for partition, count in watch.dead_letters.copy().items()}
    )
    metrics.ENGINE_NODES.read_from(nodes)


def _show_engine(watch: EngineSettingsWatch) -> None:
    """Show what a watch of the engine's nodes finds of their memory and their append-only files."""

    def by_node(of: Callable[[EngineLoad], float]) -> Callable[[], Mapping[Labels, float]]:
        return lambda: {(name,): of(node.load) for name, node in watch.nodes.copy().items()}

    metrics.DISK_FREE.read_from(lambda: {(whose,): room.free for whose, room in watch.disks.items()})
    metrics.DISK_SIZE.read_from(lambda: {(whose,): room.total for whose, room in watch.disks.items()})
    metrics.ENGINE_MEMORY.read_from(by_node(lambda load: load.used_bytes))
    metrics.ENGINE_MEMORY_LIMIT.read_from(by_node(lambda load: load.max_bytes))
    metrics.ENGINE_EVICTIONS.read_from(by_node(lambda load: load.evicted_keys))
    metrics.AOF_BYTES.read_from(by_node(lambda load: load.aof_bytes))
    metrics.AOF_WELL.read_from(by_node(lambda load: load.is_aof_written))
    metrics.DELAYED_FSYNCS.read_from(by_node(lambda load: load.delayed_fsyncs))
