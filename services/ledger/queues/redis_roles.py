"""The base of the classes that implement the ledger's ports on Redis or Valkey."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import redis

from services.ledger.engine import keys
from services.ledger.engine.mistyped_keys import UsablePartitions
from services.ledger.engine.queries import Client
from services.ledger.ports.records import MAX_WAITING_COMMANDS
from services.ledger.queues.consumer_groups import (
    ConsumerGroup,
    monotonic_ms,
    publish_command_of,
    wakeup_channel_of,
)


class RedisRole:
    """One connection, used by one thread at a time. `clock` counts milliseconds and never jumps."""

    def __init__(
        self,
        client: redis.Redis,
        partitions: int,
        max_waiting: int = MAX_WAITING_COMMANDS,
        clock: Callable[[], int] = monotonic_ms,
    ) -> None:
        self._client: Client = client
        self.partitions: Final = partitions
        self.max_waiting: Final = max_waiting
        self._all_partitions = range(partitions)
        self._usable = UsablePartitions(client, clock)
        self._command_group = ConsumerGroup(
            client, keys.REFEREE_GROUP, keys.commands, partitions, clock, self._usable
        )
        self._task_group = ConsumerGroup(
            client, keys.BOT_GROUP, keys.bot_tasks, partitions, clock, self._usable
        )
        self._wakeup_channels = {group: wakeup_channel_of(client, group) for group in keys.WAKEUP_CHANNELS}
        self._publish_command = publish_command_of(client)

    def close(self) -> None:
        """Close the connection."""
        self._command_group.close()
        self._task_group.close()
        self._client.close()

    def partition_of(self, game: str) -> int:
        """The partition that holds a game's keys."""
        return keys.partition_of(game, self.partitions)
