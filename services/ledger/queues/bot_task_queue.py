"""Bot tasks as streams with a consumer group: implements `ports.BotTaskQueue`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from schemas.contract import Schema
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.stored.rows import pack, unpack
from services.ledger.engine import keys
from services.ledger.ports.records import MAX_WAITING_TASKS, BotTask, DeliveredBotTask
from services.ledger.queues.consumer_groups import Delivery
from services.ledger.queues.redis_roles import RedisRole
from services.runtime.logging_setup import get_logger

log = get_logger("bots")
_BOT_TASK: Final[Schema[BotTask]] = Schema(BotTask, "note")


class RedisBotTaskQueue(RedisRole):
    """Delivers the tasks that append_entry.lua wrote."""

    def take_tasks(self, consumer: str, count: int, block_ms: int) -> list[DeliveredBotTask]:
        """The next tasks, at most `count` of each partition; waits up to `block_ms` for one."""
        return list(self._parse_tasks(self._task_group.read(consumer, self._all_partitions, count, block_ms)))

    def reclaim_tasks(self, consumer: str, idle_ms: int) -> list[DeliveredBotTask]:
        """Tasks that were delivered once, to another worker, and are pending for `idle_ms`."""
        return list(self._parse_tasks(self._task_group.reclaim(consumer, self._all_partitions, idle_ms)))

    def redelivered_tasks(self, consumer: str, idle_ms: int) -> Iterator[DeliveredBotTask]:
        """Tasks that were delivered more than once, one at a time."""
        return self._parse_tasks(self._task_group.redelivered(consumer, self._all_partitions, idle_ms))

    def requeue_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        """Leave these tasks for later; this delivery of them isn't counted."""
        self._task_group.requeue(
            (delivery.partition, delivery.id, delivery.delivery_count) for delivery in tasks
        )

    def renew_tasks(self, consumer: str, tasks: Sequence[DeliveredBotTask]) -> None:
        """Restart the idle time of all tasks that the consumer holds; not counted as a delivery."""
        self._task_group.renew(consumer, [(delivery.partition, delivery.id) for delivery in tasks])

    def acknowledge_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        """Remove these tasks: they are done."""
        self._task_group.acknowledge((delivery.partition, delivery.id) for delivery in tasks)

    def redispatch(self, tasks: Sequence[BotTask]) -> None:
        """Send tasks again, unless so many wait that the bots must be away."""
        for task in tasks:
            stream = keys.bot_tasks(self.partition_of(task.game))
            if self._client.xlen(stream) < MAX_WAITING_TASKS:
                self._client.xadd(stream, {"t": pack(tuple(task))})

    def _parse_tasks(self, delivered: Iterable[Delivery]) -> Iterator[DeliveredBotTask]:
        for partition, id_, fields, delivery_count in delivered:
            try:
                task = _BOT_TASK.read(unpack(fields.get(b"t", b"")))
            except (InvalidInputError, CorruptDataError) as error:
                log.error("bot task can't be read", partition=partition, id=id_, error=str(error))
                self._task_group.acknowledge([(partition, id_)])
            else:
                yield DeliveredBotTask(partition, id_, task, delivery_count)
