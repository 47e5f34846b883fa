"""Knocks at a channel, for whoever waits for entries in streams on many nodes of a cluster.

One engine can be asked to wait for many streams; a cluster can't, because they lie on many
nodes. So on a cluster, whoever puts something down may knock, and whoever waits hears it, at
whichever node. A knock may be lost: it only saves waiting, as everybody looks again soon.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, Final

from redis.exceptions import RedisError

from services.ledger import keys
from services.ledger.async_cluster import AsyncCluster
from services.ledger.cluster import Cluster

POLL_INTERVAL_S: Final = 0.2  # without a knock, look again after so long
MAX_DRAINED_MESSAGES: Final = 100  # knocks that are taken for one


def wakeup_channel_of(client: Any, group: str) -> str:
    """Where to knock for a group's consumers; '' where nobody listens, as the engine waits."""
    return keys.WAKEUP_CHANNELS[group] if isinstance(client, Cluster | AsyncCluster) else ""


class WakeupChannel:
    """What is heard at one channel, by one thread."""

    def __init__(self, client: Any, channel_name: str) -> None:
        self._client, self._channel_name = client, channel_name
        self._pubsub: Any = None

    def wait(self, timeout_s: float) -> None:
        """Return at a knock, or when it is time to look again."""
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
        except (RedisError, OSError):  # that node went: next time it is another
            self.close()
            time.sleep(timeout_s)

    def close(self) -> None:
        if self._pubsub is not None:
            with suppress(RedisError, OSError):
                self._pubsub.close()
            self._pubsub = None
