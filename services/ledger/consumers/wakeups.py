"""Wake-ups by pub/sub, for consumers that wait for streams on many nodes of a cluster.

One engine can block on many streams; a cluster can't, because they lie on many nodes. So on a
cluster a sender publishes a wake-up, which consumers receive at any node. A wake-up may be lost:
it only saves waiting, as consumers poll every `POLL_INTERVAL_S`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Final

from redis.exceptions import RedisError

from services.ledger.engine import keys
from services.ledger.engine.async_cluster import AsyncCluster
from services.ledger.engine.cluster import Cluster
from services.ledger.engine.queries import Client

POLL_INTERVAL_S: Final = 0.2  # between two polls without a wake-up
MAX_DRAINED_MESSAGES: Final = 100  # wake-ups that are taken for one


def wakeup_channel_of(client: Client, group: str) -> str:
    """The wake-up channel of a group's consumers; '' on a single engine, where they block instead."""
    return keys.WAKEUP_CHANNELS[group] if isinstance(client, Cluster | AsyncCluster) else ""


def publish_command_of(client: Client) -> str:
    """How a script publishes notifications: a cluster's nodes pass on to each other what isn't sharded."""
    return "SPUBLISH" if isinstance(client, Cluster | AsyncCluster) else "PUBLISH"


class WakeupChannel:
    """A subscription to one channel, for one thread."""

    def __init__(self, client: Client, channel_name: str) -> None:
        self._client, self._channel_name = client, channel_name
        self._pubsub: Client = None

    def wait(self, timeout_s: float) -> None:
        """Return at a wake-up, or when it is time to poll."""
        timeout_s = min(timeout_s, POLL_INTERVAL_S)
        try:
            if self._pubsub is None:
                self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)
                self._pubsub.subscribe(self._channel_name)
            deadline_s = time.monotonic() + timeout_s
            while (remaining_s := deadline_s - time.monotonic()) > 0:
                if self._pubsub.get_message(timeout=remaining_s):
                    break
            for _ in range(MAX_DRAINED_MESSAGES):
                if not self._pubsub.get_message():
                    return
        except (RedisError, OSError):  # the node is gone: the next subscription is at another
            self.close()
            time.sleep(timeout_s)

    def close(self) -> None:
        """End the subscription; the next `wait` begins another."""
        if self._pubsub is not None:
            with suppress(RedisError, OSError):
                self._pubsub.close()
            self._pubsub = None
